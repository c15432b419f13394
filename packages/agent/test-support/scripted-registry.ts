import { create, fromBinary, fromJson, toBinary, toJson, type DescMethod, type JsonValue } from '@bufbuild/protobuf';
import {
  Metadata,
  Server,
  ServerCredentials,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import { ProblemSchema, RegistryService } from '@parley/proto';
import { AppError, REASONS, toProblem } from '@parley/service-kit';
import { onTestsEnd } from '@parley/testkit';
import { startJsonServer, type JsonAnswer, type JsonRequest } from './json-server.js';

export interface ScriptedCall {
  /** As in the contract: `register`, `renewLease`, ... */
  readonly method: string;
  readonly input: Record<string, unknown>;
  readonly bearer: string | undefined;
  readonly joinToken: string | undefined;
}

/** What the registry of a test answers. `watch` yields events until it returns, which cuts the connection. */
export interface Script {
  answer: (call: ScriptedCall) => Record<string, unknown> | Promise<Record<string, unknown>>;
  watch?: (call: ScriptedCall, closed: AbortSignal) => AsyncIterable<Record<string, unknown>>;
}

export interface ScriptedRegistry {
  readonly target: string;
  readonly calls: readonly ScriptedCall[];
  stop(): Promise<void>;
}

export async function startHttpRegistry(script: Script): Promise<ScriptedRegistry> {
  const calls: ScriptedCall[] = [];
  const server = await startJsonServer(async (request) => {
    const call = fromHttp(request);
    calls.push(call);
    try {
      if (call.method === 'watch') return await streamHttp(request, script, call);
      return presentHttp(call, await script.answer(call));
    } catch (thrown) {
      const error = AppError.from(thrown);
      return { status: error.status, body: toProblem(error, 'test') };
    }
  });
  return { target: server.url, calls, stop: server.stop };
}

function fromHttp({ method, path, query, headers, body }: JsonRequest): ScriptedCall {
  const head = {
    bearer: headers.authorization?.replace('Bearer ', ''),
    joinToken: headers['parley-join-token'] as string | undefined,
  };
  const list = (name: string): string[] | undefined => query.get(name)?.split(',');
  const page = {
    labels: Object.fromEntries((list('labels') ?? []).map((pair) => pair.split(':'))) as unknown,
    limit: query.has('limit') ? Number(query.get('limit')) : undefined,
    order: query.get('order') ?? undefined,
  };
  const [, id, lease] = /^\/agents\/([^/]+)(\/lease)?$/u.exec(path) ?? [];
  const agent = id === undefined ? {} : { agent_id: decodeURIComponent(id) };
  const of = (name: string, input: object): ScriptedCall => ({ method: name, input: plain(input), ...head });
  if (path === '/register') return of('register', { manifest: body });
  if (path === '/discover' && method === 'POST') return of('discover', body as object);
  if (path === '/discover') {
    const explain = query.get('explain') === 'true' ? true : undefined;
    return of('discover', { required_capabilities: list('capabilities'), exclude: list('exclude'), explain, ...page });
  }
  if (path === '/agents') return of('listAgents', page);
  if (path === '/negotiate') return of('brokerNegotiation', body as object);
  if (path === '/agreements') return of('reportAgreement', body as object);
  if (path === '/watch') {
    const after = headers['last-event-id'];
    return of('watch', {
      agent_ids: list('agent_ids'),
      after_revision: after === undefined ? undefined : Number(after),
    });
  }
  if (lease !== undefined) return of('renewLease', agent);
  return of(method === 'DELETE' ? 'deregister' : 'getAgent', agent);
}

function presentHttp(call: ScriptedCall, answer: Record<string, unknown>): JsonAnswer {
  if (call.method === 'register') return { status: answer['replaced'] === true ? 200 : 201, body: answer };
  if (call.method === 'deregister') return { status: 204 };
  if (call.method !== 'getAgent') return { status: 200, body: answer };
  const { agent, stale_since } = answer;
  return { status: 200, body: { ...(agent as object), stale_since } };
}

async function streamHttp({ response }: JsonRequest, script: Script, call: ScriptedCall): Promise<undefined> {
  const closed = new AbortController();
  response.once('close', () => {
    closed.abort();
  });
  const events = script.watch?.(call, closed.signal) ?? [];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(': hello\n\n');
  for await (const event of events) {
    const id = event['complete'] === false ? '' : `id: ${String(event['revision'])}\n`;
    response.write(`event: ${String(event['type'])}\n${id}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
  return undefined;
}

export async function startGrpcRegistry(script: Script): Promise<ScriptedRegistry> {
  const calls: ScriptedCall[] = [];
  const server = new Server();
  const definition: Record<string, unknown> = {};
  const handlers: Record<string, (...args: never[]) => void> = {};
  for (const [name, method] of Object.entries(RegistryService.method)) {
    definition[name] = methodDefinition(method);
    handlers[name] =
      method.methodKind === 'server_streaming'
        ? (call: ServerWritableStream<Record<string, unknown>, unknown>) => {
            const scripted = fromGrpc(name, call.request, call.metadata);
            calls.push(scripted);
            void streamGrpc(call, script, scripted);
          }
        : (call: ServerUnaryCall<Record<string, unknown>, unknown>, done: sendUnaryData<unknown>) => {
            const scripted = fromGrpc(name, call.request, call.metadata);
            calls.push(scripted);
            Promise.resolve()
              .then(() => script.answer(scripted))
              .then(
                (answer) => {
                  done(null, answer);
                },
                (thrown: unknown) => {
                  done(grpcError(AppError.from(thrown)));
                },
              );
          };
  }
  server.addService(definition as ServiceDefinition, handlers as never);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  const stop = (): Promise<void> => {
    forget();
    server.forceShutdown();
    return Promise.resolve();
  };
  const forget = onTestsEnd(stop);
  return { target: `grpc://127.0.0.1:${String(port)}`, calls, stop };
}

function methodDefinition(method: DescMethod): object {
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    requestStream: false,
    responseStream: method.methodKind === 'server_streaming',
    requestDeserialize: (bytes: Buffer) =>
      toJson(method.input, fromBinary(method.input, bytes), { useProtoFieldName: true }),
    responseSerialize: (json: unknown) =>
      Buffer.from(toBinary(method.output, fromJson(method.output, plain(json as object) as JsonValue))),
    requestSerialize: () => Buffer.alloc(0),
    responseDeserialize: () => ({}),
  };
}

function fromGrpc(method: string, input: Record<string, unknown>, metadata: Metadata): ScriptedCall {
  const entry = (name: string): string | undefined => metadata.get(name)[0]?.toString();
  const bearer = entry('authorization')?.replace('Bearer ', '');
  return { method, input, bearer, joinToken: entry('parley-join-token') };
}

async function streamGrpc(
  call: ServerWritableStream<Record<string, unknown>, unknown>,
  script: Script,
  scripted: ScriptedCall,
): Promise<void> {
  const closed = new AbortController();
  call.once('cancelled', () => {
    closed.abort();
  });
  call.sendMetadata(new Metadata());
  try {
    for await (const event of script.watch?.(scripted, closed.signal) ?? []) call.write(event);
    call.emit('error', grpcError(new AppError('unavailable', 'cut')));
  } catch (thrown) {
    call.emit('error', grpcError(AppError.from(thrown)));
  }
}

function grpcError(error: AppError): Error & { code: number; metadata: Metadata } {
  const metadata = new Metadata();
  const {
    retry_after_seconds: retryAfterSeconds,
    request_id: requestId,
    errors = [],
    ...rest
  } = toProblem(error, 'test');
  const problem = create(ProblemSchema, {
    ...rest,
    requestId,
    errors: errors.map(({ path, message }) => ({ path, message })),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
  metadata.set('parley-problem-bin', Buffer.from(toBinary(ProblemSchema, problem)));
  return Object.assign(new Error(error.message), {
    code: REASONS[error.reason].grpc,
    details: error.message,
    metadata,
  });
}

/** Without what is `undefined`. */
function plain(value: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
}
