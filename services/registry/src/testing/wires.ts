import { fromJson, toJson, type JsonValue } from '@bufbuild/protobuf';
import { RegistryService } from '@parley/proto';
import { fromServiceError, serviceDefinition } from '@parley/service-kit';
import * as grpc from '@grpc/grpc-js';

export interface Meta {
  readonly bearer?: string;
  readonly joinToken?: string;
}

export type WireResult =
  | { readonly ok: true; readonly body: Record<string, never> }
  | { readonly ok: false; readonly status: number; readonly code: string; readonly paths: readonly string[]; readonly detail: string };

/** One of the two ways into the registry; `input` is the JSON form of the operation's input. */
export interface Wire {
  readonly name: string;
  call(operation: string, input: Record<string, unknown>, meta?: Meta): Promise<WireResult>;
  close(): void;
}

interface Target {
  readonly method: string;
  readonly path: (input: Record<string, unknown>) => string;
  readonly body?: boolean;
  /** Where the answer of HTTP sits in the message of the contract. */
  readonly wrap?: string;
}

const id = (name: string) => (input: Record<string, unknown>) => encodeURIComponent(String(input[name]));

export const HTTP_TARGETS: Readonly<Record<string, Target>> = {
  Register: { method: 'POST', path: () => '/register', body: true },
  RenewLease: { method: 'PUT', path: (input) => `/agents/${id('agent_id')(input)}/lease` },
  Deregister: { method: 'DELETE', path: (input) => `/agents/${id('agent_id')(input)}` },
  Discover: { method: 'POST', path: () => '/discover', body: true },
  ListAgents: { method: 'GET', path: (input) => `/agents?${queryOf(input)}` },
  GetAgent: { method: 'GET', path: (input) => `/agents/${id('agent_id')(input)}`, wrap: 'agent' },
  BrokerNegotiation: { method: 'POST', path: () => '/negotiate', body: true },
  ReportAgreement: { method: 'POST', path: () => '/agreements', body: true },
  ListWitnessedAgreements: { method: 'GET', path: (input) => `/agreements?${queryOf(input)}` },
  GetWitnessedAgreement: { method: 'GET', path: (input) => `/agreements/${id('agreement_id')(input)}`, wrap: 'agreement' },
};

function queryOf(input: Record<string, unknown>): string {
  const pairs = Object.entries(input).map(([name, value]): [string, string] => {
    if (typeof value !== 'object' || value === null) return [name, String(value)];
    return [name, Object.entries(value).map(([key, text]) => `${key}:${String(text)}`).join(',')];
  });
  return new URLSearchParams(pairs).toString();
}

export function httpWire(baseUrl: string): Wire {
  return {
    name: 'HTTP/JSON',
    close: () => undefined,
    call: async (operation, input, meta = {}) => {
      const target = HTTP_TARGETS[operation];
      if (target === undefined) throw new Error(`no HTTP route for ${operation}`);
      const response = await fetch(baseUrl + target.path(input), {
        method: target.method,
        headers: {
          ...(target.body === true ? { 'content-type': 'application/json' } : {}),
          ...(meta.bearer === undefined ? {} : { authorization: `Bearer ${meta.bearer}` }),
          ...(meta.joinToken === undefined ? {} : { 'parley-join-token': meta.joinToken }),
        },
        ...(target.body === true ? { body: JSON.stringify(input) } : {}),
        signal: AbortSignal.timeout(10_000),
      });
      const text = await response.text();
      const body = (text === '' ? {} : JSON.parse(text)) as Record<string, never>;
      if (response.ok) return { ok: true, body: target.wrap === undefined ? body : ({ [target.wrap]: body } as Record<string, never>) };
      const problem = body as unknown as { code: string; detail: string; errors?: { path: string }[] };
      return {
        ok: false,
        status: response.status,
        code: problem.code,
        detail: problem.detail,
        paths: (problem.errors ?? []).map(({ path }) => path).sort(),
      };
    },
  };
}

export function grpcWire(target: string): Wire {
  const Client = grpc.makeGenericClientConstructor(serviceDefinition(RegistryService), RegistryService.typeName);
  const client = new Client(target, grpc.credentials.createInsecure());
  return {
    name: 'gRPC',
    close: () => {
      client.close();
    },
    call: (operation, input, meta = {}) => {
      const method = RegistryService.methods.find(({ name }) => name === operation);
      if (method === undefined) throw new Error(`no method ${operation}`);
      const metadata = new grpc.Metadata();
      if (meta.bearer !== undefined) metadata.set('authorization', `Bearer ${meta.bearer}`);
      if (meta.joinToken !== undefined) metadata.set('parley-join-token', meta.joinToken);
      const json = operation === 'Register' ? { manifest: input } : input;
      const request = fromJson(method.input, json as JsonValue);
      const call = (client as unknown as Record<string, (...args: unknown[]) => void>)[method.localName];
      return new Promise((resolve) => {
        call?.call(client, request, metadata, { deadline: Date.now() + 10_000 }, (error: grpc.ServiceError | null, reply: never) => {
          if (error === null) {
            resolve({ ok: true, body: toJson(method.output, reply, { useProtoFieldName: true }) as Record<string, never> });
            return;
          }
          const problem = fromServiceError(error);
          resolve({
            ok: false,
            status: problem.status,
            code: problem.code,
            detail: problem.message,
            paths: problem.errors.map(({ path }) => path).sort(),
          });
        });
      });
    },
  };
}
