import { Role, TaskState, type Message, type Part } from '@a2a-js/sdk';
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
  type A2ARequestHandler,
  type AgentExecutor,
} from '@a2a-js/sdk/server';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import { type LegacyA2AService } from '@a2a-js/sdk/compat/v0_3/server/grpc';
import * as grpc from '@grpc/grpc-js';
import { createGrpcServer, createHttpServer, createMetrics, type Logger, type Metrics } from '@parley/service-kit';
import { createA2aServer, type A2aServer, type A2aServerOptions } from './a2a-server.js';
import { buildAgentCard, buildExtendedAgentCard } from './card/build-agent-card.js';
import type { A2aCardOptions } from './card/card-options.js';

export const EXTENSION = 'urn:example:echo:v1';

export const cardOptions: A2aCardOptions = {
  agentId: 'agent-x',
  name: 'Agent X',
  description: 'Does what it is told.',
  version: '2.3.4',
  publicUrl: 'https://agents.example/x/',
  grpcTarget: 'agents.example:443',
  skills: [
    {
      id: 'echo',
      name: 'Echo',
      description: 'Says it again.',
      tags: ['text'],
      inputModes: ['text/plain'],
      outputModes: ['text/plain'],
    },
  ],
  extensions: [{ uri: EXTENSION, description: 'Echoes.', required: false, params: undefined }],
  streaming: true,
  pushNotifications: true,
  extendedCard: { description: 'Does more.' },
  compat: true,
};

/** Echoes; told to by the first word of the text, it asks, fails, or waits until the gate is opened. */
export class EchoExecutor implements AgentExecutor {
  readonly gates = new Map<string, () => void>();
  readonly finished: string[] = [];

  execute: AgentExecutor['execute'] = async (request, bus) => {
    const { taskId, contextId, userMessage, context } = request;
    if (context.requestedExtensions?.includes(EXTENSION) === true) context.addActivatedExtension(EXTENSION);
    const said = textOf(userMessage);
    const [order] = said.split(' ');
    if (order === 'message') {
      bus.publish(AgentEvent.message({ ...agentMessage(said), contextId }));
      bus.finished();
      return;
    }
    const status = (state: TaskState, message?: Message) => ({ state, message, timestamp: '2026-01-01T00:00:00.000Z' });
    const update = (state: TaskState, message?: Message): void => {
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state, message), metadata: undefined }));
    };
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: status(TaskState.TASK_STATE_SUBMITTED),
        artifacts: [],
        history: [userMessage],
        metadata: undefined,
      }),
    );
    update(TaskState.TASK_STATE_WORKING);
    if (order === 'wait') await new Promise<void>((resolve) => this.gates.set(taskId, resolve));
    if (order === 'ask') update(TaskState.TASK_STATE_INPUT_REQUIRED, agentMessage('which?'));
    else {
      const artifact = {
        artifactId: 'a1',
        name: 'echo',
        description: '',
        parts: [textPart(said)],
        metadata: undefined,
        extensions: [],
      };
      bus.publish(
        AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined }),
      );
      update(TaskState.TASK_STATE_COMPLETED);
    }
    this.finished.push(taskId);
    bus.finished();
  };

  cancelTask: AgentExecutor['cancelTask'] = (taskId, bus) => {
    const status = { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp: '2026-01-01T00:00:00.000Z' };
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId: '', status, metadata: undefined }));
    bus.finished();
    return Promise.resolve();
  };
}

function textPart(text: string): Part {
  return { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' };
}

function textOf({ parts }: Message): string {
  const content = parts[0]?.content;
  return content?.$case === 'text' ? content.value : '';
}

function agentMessage(text: string): Message {
  return {
    messageId: 'answer-1',
    contextId: '',
    taskId: '',
    role: Role.ROLE_AGENT,
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

export interface TestA2a {
  readonly a2a: A2aServer;
  readonly url: string;
  readonly grpcPort: number;
  readonly executor: EchoExecutor;
  readonly lines: readonly Record<string, unknown>[];
  readonly metrics: Metrics;
  close(): Promise<void>;
}

const running = new Set<() => Promise<void>>();

/** To be called after each test. */
export async function closeA2aServers(): Promise<void> {
  const closing = [...running];
  running.clear();
  await Promise.all(closing.map((close) => close()));
}

export interface TestA2aOptions extends Partial<Omit<A2aServerOptions, 'card' | 'requestHandler'>> {
  readonly card?: Partial<A2aCardOptions>;
  /** Instead of some methods of the usual handler. */
  readonly handler?: Partial<A2ARequestHandler>;
}

/** A whole server on loopback over the library's own request handler. */
export async function startA2a({ card: cardPart, handler, ...options }: TestA2aOptions = {}): Promise<TestA2a> {
  const card = { ...cardOptions, ...cardPart };
  const executor = new EchoExecutor();
  const usual = new DefaultRequestHandler(
    buildAgentCard(card),
    new InMemoryTaskStore(),
    executor,
    undefined,
    new InMemoryPushNotificationStore(),
    undefined,
    buildExtendedAgentCard(card),
  );
  const { logger, lines } = recorder();
  const metrics = createMetrics({ service: 'test', processMetrics: false });
  const requestHandler = new Proxy<A2ARequestHandler>(usual, {
    get: (target, name) => {
      const own = (handler as Record<string | symbol, unknown> | undefined)?.[name];
      const method: unknown = own ?? Reflect.get(target, name, target);
      return typeof method === 'function' ? (method.bind(target) as unknown) : method;
    },
  });
  const a2a = createA2aServer({ card, requestHandler, logger, metrics, ...options });
  const http = createHttpServer({
    routes: [],
    logger,
    metrics,
    extend: (app) => {
      a2a.mount(app);
    },
  });
  const rpc = createGrpcServer({
    services: [],
    logger,
    metrics,
    extraServices: a2a.grpc.services,
    interceptors: a2a.grpc.interceptors,
    maxMessageBytes: a2a.grpc.maxMessageBytes,
  });
  const port = await http.listen(0, '127.0.0.1');
  const grpcPort = await rpc.listen(0, '127.0.0.1');
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closed ??= (async () => {
      for (const open of executor.gates.values()) open();
      a2a.close();
      await Promise.all([http.close(0), rpc.close(0)]);
    })());
  running.add(close);
  return { a2a, url: `http://127.0.0.1:${String(port)}`, grpcPort, executor, lines, metrics, close };
}

function recorder(): { logger: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const at =
    (level: string) =>
    (message: string, fields: object = {}): void => {
      lines.push({ level, message, ...fields });
    };
  const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } as unknown as Logger;
  return { logger, lines };
}

export const V1 = { 'A2A-Version': '1.0' };
export type Json = Record<string, unknown>;

/** The JSON of a message of protocol 1.0. */
export function said(text: string, more: Json = {}): Json {
  return { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text }], ...more };
}

/** Of 0.3. */
export function legacySaid(text: string, more: Json = {}): Json {
  return { kind: 'message', messageId: 'm-1', role: 'user', parts: [{ kind: 'text', text }], ...more };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined when the body is no JSON. */
  readonly json: Json | undefined;
}

export async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parsed(text) };
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

export function post(url: string, body: unknown, headers: Record<string, string> = V1): Promise<Answer> {
  return ask(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** A JSON-RPC call of version 1.0, unless the headers say otherwise. */
export function rpc(
  server: TestA2a,
  method: string,
  params: unknown,
  headers: Record<string, string> = V1,
): Promise<Answer> {
  return post(`${server.url}/a2a`, { jsonrpc: '2.0', id: 7, method, params }, headers);
}

/** The data of the events of a stream that has ended. */
export function eventsOf({ text }: Answer): Json[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as Json);
}

type Methods = typeof A2AService | typeof LegacyA2AService;
type Definition = grpc.MethodDefinition<unknown, unknown>;

export interface GrpcAnswer {
  readonly value: Json;
  readonly headers: grpc.Metadata;
}

/** A unary gRPC call, 1.0 unless `service` says otherwise; rejects with the error as it came. */
export async function grpcCall(
  server: TestA2a,
  method: string,
  request: object | Buffer,
  { metadata = V1, service = A2AService }: { metadata?: Record<string, string>; service?: Methods } = {},
): Promise<GrpcAnswer> {
  const definition = (service as unknown as Record<string, Definition>)[method];
  if (definition === undefined) throw new Error(`no method ${method}`);
  const client = new grpc.Client(`127.0.0.1:${String(server.grpcPort)}`, grpc.credentials.createInsecure());
  try {
    return await new Promise((resolve, reject) => {
      let headers = new grpc.Metadata();
      client
        .makeUnaryRequest(
          definition.path,
          Buffer.isBuffer(request) ? () => request : definition.requestSerialize,
          definition.responseDeserialize,
          request,
          metadataOf(metadata),
          { deadline: Date.now() + 10_000 },
          (error, value) => {
            if (error === null) resolve({ value: value as Json, headers });
            else reject(error);
          },
        )
        .on('metadata', (given: grpc.Metadata) => {
          headers = given;
        });
    });
  } finally {
    client.close();
  }
}

export interface GrpcStream {
  readonly call: grpc.ClientReadableStream<unknown>;
  readonly items: Json[];
  readonly headers: Promise<grpc.Metadata>;
  /** Undefined when it ended in order. */
  readonly ended: Promise<grpc.ServiceError | undefined>;
  close(): void;
}

export function grpcStream(
  server: TestA2a,
  method: string,
  request: object,
  { metadata = V1, service = A2AService }: { metadata?: Record<string, string>; service?: Methods } = {},
): GrpcStream {
  const definition = (service as unknown as Record<string, Definition>)[method];
  if (definition === undefined) throw new Error(`no method ${method}`);
  const client = new grpc.Client(`127.0.0.1:${String(server.grpcPort)}`, grpc.credentials.createInsecure());
  const call = client.makeServerStreamRequest(
    definition.path,
    definition.requestSerialize,
    definition.responseDeserialize,
    request,
    metadataOf(metadata),
    { deadline: Date.now() + 10_000 },
  );
  const items: Json[] = [];
  call.on('data', (item: Json) => items.push(item));
  const headers = new Promise<grpc.Metadata>((resolve) => {
    call.on('metadata', resolve);
  });
  const ended = new Promise<grpc.ServiceError | undefined>((resolve) => {
    call.on('error', (error) => {
      resolve(error as grpc.ServiceError);
    });
    call.on('end', () => {
      resolve(undefined);
    });
  });
  return {
    call,
    items,
    headers,
    ended,
    close: () => {
      client.close();
    },
  };
}

function metadataOf(from: Record<string, string>): grpc.Metadata {
  const metadata = new grpc.Metadata();
  for (const [key, value] of Object.entries(from)) metadata.set(key, value);
  return metadata;
}

/** The message of gRPC requests of version 1.0. */
export function grpcSaid(text: string): object {
  return {
    messageId: 'm-1',
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

/** The error of a call that must fail. */
export async function failureOf(answer: Promise<unknown>): Promise<grpc.ServiceError> {
  try {
    await answer;
  } catch (error) {
    return error as grpc.ServiceError;
  }
  throw new Error('it succeeded');
}
