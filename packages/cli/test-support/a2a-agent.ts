import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  Role,
  TaskState,
  type AgentCard,
  type Artifact,
  type Message,
  type Part,
  type TaskArtifactUpdateEvent,
} from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { A2AService, grpcService, UserBuilder as GrpcUserBuilder } from '@a2a-js/sdk/server/grpc';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import express from 'express';

/** A real agent on a loopback port, made of the protocol's own library; what is said to it decides what it does. */
export interface A2aAgent {
  readonly url: string;
  /** Of all requests, in order. */
  readonly headers: readonly IncomingHttpHeaders[];
  /** Ids of the tasks that were cancelled. */
  readonly canceled: readonly string[];
  /** The messages, in order. */
  readonly messages: readonly Message[];
  close(): Promise<void>;
}

export async function startA2aAgent(): Promise<A2aAgent> {
  const work = new Work();
  const headers: IncomingHttpHeaders[] = [];
  const app = express();
  const http = createServer(app).listen(0, '127.0.0.1');
  await once(http, 'listening');
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const grpc = new Server();
  const { promise: grpcPort, resolve, reject } = Promise.withResolvers<number>();
  grpc.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
    error === null ? resolve(port) : reject(error),
  );
  const requestHandler = new DefaultRequestHandler(
    cardOf(url, `127.0.0.1:${await grpcPort}`),
    new InMemoryTaskStore(),
    work,
  );
  grpc.addService(A2AService, grpcService({ requestHandler, userBuilder: GrpcUserBuilder.noAuthentication }));
  app.use((request, _response, next) => {
    headers.push(request.headers);
    next();
  });
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/a2a', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  app.use('/rest', restHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  return {
    url,
    headers,
    canceled: work.canceled,
    messages: work.messages,
    close: async () => {
      grpc.forceShutdown();
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}

function cardOf(url: string, grpcTarget: string): AgentCard {
  const at = (protocolBinding: string, where: string) => ({
    url: where,
    protocolBinding,
    protocolVersion: '1.0',
    tenant: '',
  });
  const modes = { inputModes: [], outputModes: [], securityRequirements: [] };
  return {
    name: 'loopback',
    description: 'Does what it is told',
    version: '1.0.0',
    provider: undefined,
    supportedInterfaces: [at('JSONRPC', `${url}/a2a`), at('HTTP+JSON', `${url}/rest`), at('GRPC', grpcTarget)],
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'echo', name: 'Echo\u001b[2J', description: 'Repeats', tags: [], examples: [], ...modes }],
    signatures: [],
  };
}

class Work implements AgentExecutor {
  readonly canceled: string[] = [];
  readonly messages: Message[] = [];
  readonly #running = new Map<string, () => void>();

  async execute({ taskId, contextId, userMessage, task }: RequestContext, bus: ExecutionEventBus): Promise<void> {
    this.messages.push(userMessage);
    const ids = { taskId, contextId };
    const words = userMessage.parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
    const [order = '', ...rest] = words.split(' ');
    const state = (to: TaskState, said?: string): void => {
      const message = said === undefined ? undefined : messageOf(ids, said);
      const status = { state: to, message, timestamp: new Date().toISOString() };
      bus.publish(AgentEvent.statusUpdate({ ...ids, status, metadata: undefined }));
    };
    const piece = (parts: readonly Part[], fields: Partial<TaskArtifactUpdateEvent> = {}): void => {
      const artifact = artifactOf(parts);
      bus.publish(
        AgentEvent.artifactUpdate({ ...ids, artifact, append: false, lastChunk: true, metadata: undefined, ...fields }),
      );
    };
    // The library wants a task first, also from a turn that goes on with one.
    const status = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: new Date().toISOString() };
    const opened = { id: taskId, contextId, status, artifacts: [], history: [userMessage], metadata: undefined };
    bus.publish(AgentEvent.task(task === undefined ? opened : { ...task, status }));
    state(TaskState.TASK_STATE_WORKING, 'thinking\u001b[2J hard');
    if (order === 'wait') {
      piece([textPart('so far ')], { lastChunk: false });
      await new Promise<void>((resolve) => this.#running.set(taskId, resolve));
      state(TaskState.TASK_STATE_CANCELED, 'stopped');
    } else if (order === 'ask' && task === undefined) {
      state(TaskState.TASK_STATE_INPUT_REQUIRED, 'which one?');
    } else if (order === 'fail') {
      state(TaskState.TASK_STATE_FAILED, 'cannot');
    } else if (order === 'flood') {
      for (let at = 0; at < 20_000 && !this.canceled.includes(taskId); at += 1) {
        piece([textPart(`line ${at}\n`)], { append: at > 0, lastChunk: false });
        await new Promise(setImmediate);
      }
      state(this.canceled.includes(taskId) ? TaskState.TASK_STATE_CANCELED : TaskState.TASK_STATE_COMPLETED);
    } else {
      const half = Math.ceil(rest.length / 2);
      piece([textPart(`${rest.slice(0, half).join(' ')} `)], { lastChunk: false });
      piece([textPart(rest.slice(half).join(' '))], { append: true });
      state(TaskState.TASK_STATE_COMPLETED);
    }
    bus.finished();
  }

  cancelTask = (taskId: string): Promise<void> => {
    this.canceled.push(taskId);
    this.#running.get(taskId)?.();
    return Promise.resolve();
  };
}

function textPart(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' };
}

function artifactOf(parts: readonly Part[]): Artifact {
  return { artifactId: 'a1', name: 'out', description: '', parts: [...parts], metadata: undefined, extensions: [] };
}

function messageOf(ids: { readonly taskId: string; readonly contextId: string }, said: string): Message {
  return {
    ...ids,
    messageId: randomUUID(),
    role: Role.ROLE_AGENT,
    parts: [textPart(said)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}
