import type { JsonObject } from '../../domain/facts.js';
import type { ProxyEngine } from '../../engine/index.js';
import { looseInteger, nullable, request, text, wrongField } from '../fields/index.js';
import type { ProxyRoute } from '../routes.js';
import { refuseFields } from './no-fields.js';

const PATH = '/ext/agent-config';

const configRequest = request(
  {},
  {
    name: nullable(text()),
    description: nullable(text()),
    role: nullable(text()),
    system_prompt: nullable(text()),
    timeout_seconds: looseInteger(),
  },
);

export function agentConfigRoutes(engine: ProxyEngine): readonly ProxyRoute[] {
  return [
    {
      method: 'POST',
      path: PATH,
      summary: 'Changes the agent’s configuration.',
      isControl: true,
      handle: async ({ fields }) => {
        const changes = configRequest(fields) as JsonObject;
        refuseBlank(changes, 'name');
        refuseBlank(changes, 'description');
        await engine.configureAgent(changes);
        return { status: 'updated' };
      },
    },
    {
      method: 'GET',
      path: PATH,
      summary: 'What of the agent’s configuration was ever set.',
      isControl: true,
      handle: ({ fields }) => {
        refuseFields(fields, 'get');
        return { config: engine.agentConfig };
      },
    },
  ];
}

/** They stand on the card, which must have them. */
function refuseBlank(changes: JsonObject, name: string): void {
  const value = changes[name];
  if (value === undefined) return;
  if (typeof value !== 'string' || value.trim() === '') throw wrongField('', `${name} must be a non-empty string`);
}
