import { createRegistry } from '@bufbuild/protobuf';
import {
  file_parley_v1_manifest,
  file_parley_v1_negotiation,
  file_parley_v1_problem,
  file_parley_v1_registry,
} from '@parley/proto';
import { z } from 'zod';
import { route } from '../http/http.test-helper.js';
import type { HttpRoute, RouteDoc } from '../http/routes.js';
import { operation } from '../operation.js';
import { openApiDocument } from './openapi.js';

type Json = Record<string, unknown>;

const registry = createRegistry(
  file_parley_v1_manifest,
  file_parley_v1_negotiation,
  file_parley_v1_registry,
  file_parley_v1_problem,
);

const manifest = z.strictObject({
  agent_id: z.string().max(128),
  capabilities: z.array(z.string()).min(1).max(64),
  metadata: z.record(z.string(), z.json()).optional(),
});

function documented(
  method: HttpRoute['method'],
  path: string,
  input: z.ZodType,
  doc: Partial<RouteDoc>,
  more: Partial<HttpRoute> = {},
): HttpRoute {
  return route(
    method,
    path,
    operation(input, () => ({})),
    { ...more, doc: { operationId: 'x', summary: 'Does it.', ...doc } },
  );
}

const ROUTES = [
  documented(
    'post',
    '/register',
    manifest,
    {
      operationId: 'register',
      requestMessage: 'parley.v1.AgentManifest',
      responseMessage: 'parley.v1.RegisterResponse',
      successStatus: 201,
      security: 'The owner token.',
    },
    { body: 'required' },
  ),
  documented('get', '/discover', z.object({}), {
    operationId: 'discover',
    query: { capabilities: 'All of them.' },
    responseMessage: 'parley.v1.DiscoveryResponse',
  }),
  documented(
    'put',
    '/agents/:agent_id/note',
    z.strictObject({ agent_id: z.string(), note: z.string() }),
    { operationId: 'note', requestMessage: 'parley.v1.RenewLeaseRequest' },
    { body: 'required' },
  ),
  documented('delete', '/agents/:agent_id', z.object({}), { operationId: 'deregister', successStatus: 204 }),
  documented(
    'post',
    '/negotiate',
    z.unknown(),
    { operationId: 'negotiate', requestMessage: 'parley.v1.BrokerNegotiationRequest' },
    { body: 'optional' },
  ),
];

const build = (routes: readonly HttpRoute[] = ROUTES): Json =>
  openApiDocument({
    title: 'Parley',
    version: '0.1.0',
    description: 'd',
    registry,
    routes,
    extraPaths: { '/watch': { get: {} }, '/discover': { post: {} } },
  }) as Json;

/** Every `$ref` of a document. */
function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === '$ref' && typeof member === 'string' ? [member] : references(member),
  );
}

function resolve(document: Json, reference: string): unknown {
  expect(reference).toMatch(/^#\//);
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((value, name) => (value as Json | undefined)?.[name], document);
}

const operationOf = (document: Json, path: string, method: string): Json =>
  ((document['paths'] as Json)[path] as Json)[method] as Json;

const bodyOf = (document: Json, path: string, method: string): Json => {
  const { content } = operationOf(document, path, method)['requestBody'] as {
    content: { 'application/json': { schema: { $ref: string } } };
  };
  return resolve(document, content['application/json'].schema.$ref) as Json;
};

describe('an OpenAPI document', () => {
  const document = build();

  it('has only references that lead somewhere, also from recursive schemas', () => {
    const all = references(document);
    expect(all.length).toBeGreaterThan(10);
    for (const reference of all) expect(resolve(document, reference)).toEqual(expect.any(Object));
    expect(JSON.stringify(document)).not.toContain('$defs');
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });

  it('gives paths, parameters, statuses and the form of errors', () => {
    expect(Object.keys(document['paths'] as Json)).toEqual([
      '/register',
      '/discover',
      '/agents/{agent_id}/note',
      '/agents/{agent_id}',
      '/negotiate',
      '/watch',
    ]);
    expect(operationOf(document, '/agents/{agent_id}', 'delete')).toMatchObject({
      parameters: [{ name: 'agent_id', in: 'path', required: true }],
      responses: {
        '204': { description: 'Success' },
        default: { content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } },
      },
    });
    expect(operationOf(document, '/discover', 'get')).toMatchObject({
      parameters: [{ name: 'capabilities', in: 'query', description: 'All of them.' }],
    });
    expect(operationOf(document, '/discover', 'post')).toEqual({});
    expect(operationOf(document, '/register', 'post')).toMatchObject({
      security: [{ bearer: [] }],
      requestBody: { required: true },
    });
    expect(operationOf(document, '/negotiate', 'post')).toMatchObject({ requestBody: { required: false } });
  });

  it('describes a body as it is checked, without what comes from the path', () => {
    expect(bodyOf(document, '/register', 'post')).toMatchObject({
      type: 'object',
      required: ['agent_id', 'capabilities'],
      additionalProperties: false,
      properties: { agent_id: { maxLength: 128 }, capabilities: { maxItems: 64 } },
    });
    expect(bodyOf(document, '/agents/{agent_id}/note', 'put')).toEqual({
      type: 'object',
      properties: { note: { type: 'string' } },
      required: ['note'],
      additionalProperties: false,
    });
  });

  it('falls back to the contract where the check says nothing', () => {
    expect(bodyOf(document, '/negotiate', 'post')).toMatchObject({
      properties: { session_id: { type: 'string' }, parameters: { type: 'object' } },
    });
  });

  it('describes answers as the contract does', () => {
    const { schemas } = document['components'] as { schemas: Record<string, Json> };
    expect(schemas['DiscoveryResponse']).toEqual({
      type: 'object',
      properties: {
        agents: { type: 'array', items: { $ref: '#/components/schemas/RegisteredAgent' } },
        next_cursor: { type: 'string' },
        near_misses: { type: 'array', items: { $ref: '#/components/schemas/NearMiss' } },
        stale_since: { type: 'string' },
      },
    });
    expect(schemas['Problem']).toMatchObject({
      properties: { status: { type: 'integer' }, retry_after_seconds: { type: 'number' } },
    });
  });

  it('is not made from routes that name what there is not, or one name twice', () => {
    const [first] = ROUTES;
    if (first === undefined) throw new Error('no routes');
    expect(() => build([documented('get', '/a', z.object({}), { responseMessage: 'parley.v1.Nothing' })])).toThrow(
      'no message parley.v1.Nothing in the contract',
    );
    expect(() => build([first, first])).toThrow('two operations are called register');
  });
});
