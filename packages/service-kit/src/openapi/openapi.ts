import type { DescMessage, Registry } from '@bufbuild/protobuf';
import type { HttpRoute, RouteDoc } from '../http/routes.js';
import { messageSchemas, schemaName } from './message-schema.js';
import { requestSchemas } from './request-schema.js';

export interface OpenApiOptions {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** Where the messages named by the routes are found. */
  readonly registry: Registry;
  readonly routes: readonly HttpRoute[];
  /** Paths that are no operations: health, watch, pages. */
  readonly extraPaths?: Readonly<Record<string, object>>;
}

/**
 * An OpenAPI 3.1 document: answers as the contract gives them, request bodies as the validating schemas do.
 * @throws Error when a route names a message that is not in the contract, or an operation id twice.
 */
export function openApiDocument(options: OpenApiOptions): object {
  const document = new Document(options.registry);
  const paths: Record<string, Record<string, object>> = {};
  for (const route of options.routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: document.operation(route) };
  }
  for (const [path, item] of Object.entries(options.extraPaths ?? {})) paths[path] = { ...paths[path], ...item };
  return {
    openapi: '3.1.0',
    info: { title: options.title, version: options.version, description: options.description },
    paths,
    components: {
      schemas: document.schemas(),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
  };
}

class Document {
  readonly #registry: Registry;
  readonly #messages = new Map<string, DescMessage>();
  readonly #requests: Record<string, object> = {};
  readonly #operationIds = new Set<string>();

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#message('parley.v1.Problem');
  }

  schemas(): Record<string, object> {
    return { ...messageSchemas([...this.#messages.values()]), ...this.#requests };
  }

  operation(route: HttpRoute): object {
    const { doc } = route;
    if (this.#operationIds.has(doc.operationId)) throw new Error(`two operations are called ${doc.operationId}`);
    this.#operationIds.add(doc.operationId);
    const pathNames = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
    return {
      operationId: doc.operationId,
      summary: doc.summary,
      ...(doc.security === undefined ? {} : { security: [{ bearer: [] }], description: doc.security }),
      parameters: parameters(pathNames, doc),
      ...this.#requestBody(route, pathNames),
      responses: {
        [String(doc.successStatus ?? 200)]: {
          description: 'Success',
          ...(doc.responseMessage === undefined
            ? {}
            : { content: { 'application/json': { schema: this.#message(doc.responseMessage) } } }),
        },
        default: {
          description: 'An error, RFC 9457',
          content: { 'application/problem+json': { schema: this.#message('parley.v1.Problem') } },
        },
      },
    };
  }

  #requestBody({ doc, body, operation }: HttpRoute, pathNames: readonly string[]): object {
    if (doc.requestMessage === undefined) return {};
    const message = this.#message(doc.requestMessage);
    // One name per operation: a message may be checked differently by two of them.
    const name = `${doc.operationId}Body`;
    const schemas = requestSchemas(name, operation.input, pathNames);
    Object.assign(this.#requests, schemas);
    const schema = schemas === undefined ? message : reference(name);
    return { requestBody: { required: body === 'required', content: { 'application/json': { schema } } } };
  }

  #message(name: string): object {
    const message = this.#registry.getMessage(name);
    if (message === undefined) throw new Error(`no message ${name} in the contract`);
    this.#messages.set(name, message);
    return reference(schemaName(name));
  }
}

function reference(name: string): object {
  return { $ref: `#/components/schemas/${name}` };
}

function parameters(pathNames: readonly string[], doc: RouteDoc): object[] {
  const schema = { type: 'string' };
  const inPath = pathNames.map((name) => ({ name, in: 'path', required: true, schema }));
  const inQuery = Object.entries(doc.query ?? {}).map(([name, description]) => ({
    name,
    in: 'query',
    description,
    schema,
  }));
  return [...inPath, ...inQuery];
}
