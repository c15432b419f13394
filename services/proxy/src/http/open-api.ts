import type { ProxyRoute } from './routes.js';

/** What the proxy adds to A2A, briefly; the fields of each operation stand on the agent's card. */
export function openApi(routes: readonly ProxyRoute[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const { method, path, summary, isControl } of routes) {
    const operations = (paths[path] ??= {});
    operations[method.toLowerCase()] = {
      operationId: `${method.toLowerCase()} ${path}`,
      summary,
      responses: { '200': { description: 'Done.' }, default: { description: 'One plain sentence.' } },
      ...(isControl === true && { security: [{}, { controlToken: [] }] }),
    };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Parley proxy', version: '1.0.0', description: 'urn:agentenv:proxy/v1' },
    paths,
    components: { securitySchemes: { controlToken: { type: 'http', scheme: 'bearer' } } },
  };
}
