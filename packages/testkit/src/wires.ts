import { fromJson, toJson, type DescService, type JsonValue } from '@bufbuild/protobuf';
import * as grpc from '@grpc/grpc-js';
import { fromServiceError, serviceDefinition } from '@parley/service-kit';

export interface WireMeta {
  readonly bearer?: string;
  /** Further headers, or metadata entries. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface WireFailure {
  readonly ok: false;
  readonly status: number;
  readonly code: string;
  readonly paths: readonly string[];
  readonly detail: string;
}

export type WireResult = { readonly ok: true; readonly body: Record<string, unknown> } | WireFailure;

/** One of the two ways to a service; `input` is the JSON form of the operation's input. */
export interface Wire {
  readonly name: string;
  call(operation: string, input: Record<string, unknown>, meta?: WireMeta): Promise<WireResult>;
  close(): void;
}

export interface HttpTarget {
  readonly method: string;
  /** `/agents/{agent_id}`: filled from the input. */
  readonly path: string;
  /** Where the rest of the input goes. Default: nowhere. */
  readonly rest?: 'body' | 'query';
  /** Where HTTP's answer sits in the message of the contract. */
  readonly wrap?: string;
}

export function httpWire(baseUrl: string, targets: Readonly<Record<string, HttpTarget>>): Wire {
  return {
    name: 'HTTP/JSON',
    close: () => undefined,
    call: async (operation, input, meta = {}) => {
      const target = targets[operation];
      if (target === undefined) throw new Error(`no HTTP route for ${operation}`);
      const { path, rest } = fill(target.path, input);
      const query = target.rest === 'query' ? `?${queryOf(rest)}` : '';
      const response = await fetch(baseUrl + path + query, {
        method: target.method,
        headers: {
          ...(target.rest === 'body' ? { 'content-type': 'application/json' } : {}),
          ...(meta.bearer === undefined ? {} : { authorization: `Bearer ${meta.bearer}` }),
          ...meta.headers,
        },
        ...(target.rest === 'body' ? { body: JSON.stringify(rest) } : {}),
        signal: AbortSignal.timeout(10_000),
      });
      const text = await response.text();
      const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
      if (response.ok) return { ok: true, body: target.wrap === undefined ? body : { [target.wrap]: body } };
      const { code, detail, errors } = body as { code: string; detail: string; errors?: { path: string }[] };
      return failure(response.status, code, detail, errors ?? []);
    },
  };
}

function failure(status: number, code: string, detail: string, errors: readonly { path: string }[]): WireFailure {
  return { ok: false, status, code, detail, paths: errors.map(({ path }) => path).sort() };
}

function fill(path: string, input: Record<string, unknown>): { path: string; rest: Record<string, unknown> } {
  const rest = { ...input };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- a copy of our own
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  return { path: filled, rest };
}

function queryOf(input: Record<string, unknown>): string {
  const pairs = Object.entries(input).map(([name, value]): [string, string] => {
    if (typeof value !== 'object' || value === null) return [name, String(value)];
    const entries = Object.entries(value).map(([key, text]) => `${key}:${String(text)}`);
    return [name, entries.join(',')];
  });
  return new URLSearchParams(pairs).toString();
}

export interface GrpcWireOptions {
  /** Puts the input into the message. Default: it is the message. */
  readonly wrap?: (operation: string, input: Record<string, unknown>) => Record<string, unknown>;
}

/** The services of one server, told apart by their methods' names. */
export function grpcWire(target: string, services: readonly DescService[], options: GrpcWireOptions = {}): Wire {
  const clients = services.map((service) => {
    const Client = grpc.makeGenericClientConstructor(serviceDefinition(service), service.typeName);
    return { service, client: new Client(target, grpc.credentials.createInsecure()) };
  });
  return {
    name: 'gRPC',
    close: () => {
      for (const { client } of clients) client.close();
    },
    call: (operation, input, meta = {}) => {
      const found = clients.flatMap(({ service, client }) =>
        service.methods.filter(({ name }) => name === operation).map((method) => ({ method, client })),
      )[0];
      if (found === undefined) throw new Error(`no method ${operation}`);
      const { method, client } = found;
      const metadata = new grpc.Metadata();
      if (meta.bearer !== undefined) metadata.set('authorization', `Bearer ${meta.bearer}`);
      for (const [name, value] of Object.entries(meta.headers ?? {})) metadata.set(name, value);
      const request = fromJson(method.input, (options.wrap?.(operation, input) ?? input) as JsonValue);
      const call = (client as unknown as Record<string, ((...args: unknown[]) => void) | undefined>)[method.localName];
      return new Promise((resolve) => {
        call?.call(
          client,
          request,
          metadata,
          { deadline: Date.now() + 10_000 },
          (error: grpc.ServiceError | null, reply: never) => {
            if (error === null) {
              resolve({
                ok: true,
                body: toJson(method.output, reply, { useProtoFieldName: true }) as Record<string, unknown>,
              });
              return;
            }
            const problem = fromServiceError(error);
            resolve(failure(problem.status, problem.code, problem.message, problem.errors));
          },
        );
      });
    },
  };
}

/** @throws when the call was accepted. */
export function refused(result: WireResult): WireFailure {
  if (result.ok) throw new Error(`was accepted: ${JSON.stringify(result.body)}`);
  return result;
}

/** @throws when the call was refused. */
export function accepted(result: WireResult): Record<string, unknown> {
  if (!result.ok) throw new Error(`was refused: ${result.code} ${result.detail}`);
  return result.body;
}
