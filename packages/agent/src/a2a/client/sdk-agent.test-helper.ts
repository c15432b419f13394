import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TaskState, type AgentCard, type Message, type Part } from '@a2a-js/sdk';
import { duplicateInterfacesForLegacy } from '@a2a-js/sdk/compat/v0_3';
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { A2AService, grpcService, UserBuilder as GrpcUserBuilder } from '@a2a-js/sdk/server/grpc';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { onTestsEnd } from '@parley/testkit';
import express from 'express';

export interface SdkAgent {
  readonly url: string;
  readonly card: AgentCard;
  /** Headers of every request, oldest first. */
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  readonly messages: readonly Message[];
  /** Lets the tasks that wait go on. */
  readonly release: () => void;
}

/** An agent as others build it: the protocol's library with nothing around it. What it does depends on the first word. */
export async function startSdkAgent(): Promise<SdkAgent> {
  const app = express();
  const http = createServer(app);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const grpc = new Server();
  const grpcPort = await new Promise<number>((resolve, reject) => {
    grpc.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(port);
      else reject(error);
    });
  });
  const url = `http://127.0.0.1:${String((http.address() as AddressInfo).port)}`;
  const card = cardOf(url, grpcPort);
  const executor = new WordExecutor();
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
  const requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat: { enabled: true } };
  app.use((request, _response, next) => {
    requests.push({ path: request.path, headers: request.headers });
    next();
  });
  app.use(
    '/.well-known/agent-card.json',
    agentCardHandler({ agentCardProvider: requestHandler, legacyCompat: { enabled: true } }),
  );
  app.use('/a2a', jsonRpcHandler(options));
  app.use('/rest', restHandler(options));
  grpc.addService(A2AService, grpcService({ requestHandler, userBuilder: GrpcUserBuilder.noAuthentication }));
  onTestsEnd(async () => {
    executor.release();
    grpc.forceShutdown();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return {
    url,
    card,
    requests,
    messages: executor.messages,
    release: () => {
      executor.release();
    },
  };
}

function cardOf(url: string, grpcPort: number): AgentCard {
  const one = (protocolBinding: string, at: string): AgentCard['supportedInterfaces'][number] => ({
    url: at,
    protocolBinding,
    protocolVersion: '1.0',
    tenant: '',
  });
  const own = [
    one('JSONRPC', `${url}/a2a`),
    one('HTTP+JSON', `${url}/rest`),
    one('GRPC', `127.0.0.1:${String(grpcPort)}`),
  ];
  return {
    name: 'words',
    description: 'does what the first word says',
    version: '1.0.0',
    provider: undefined,
    supportedInterfaces: duplicateInterfacesForLegacy(own, ['JSONRPC', 'HTTP+JSON']),
    capabilities: { streaming: true, pushNotifications: false, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    signatures: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  };
}

/** `echo`, `message`, `wait`, `ask`, `fail`. */
class WordExecutor implements AgentExecutor {
  readonly messages: Message[] = [];
  #bell = Promise.withResolvers<undefined>();

  release(): void {
    this.#bell.resolve(undefined);
    this.#bell = Promise.withResolvers();
  }

  async execute({ taskId, contextId, userMessage, task }: RequestContext, bus: ExecutionEventBus): Promise<void> {
    this.messages.push(userMessage);
    const content = userMessage.parts[0]?.content;
    const word = content?.$case === 'text' ? (content.value.split(' ')[0] ?? '') : '';
    const said = (text: string): Message => ({
      ...userMessage,
      role: 2,
      taskId,
      contextId,
      messageId: `to-${userMessage.messageId}`,
      parts: [textPart(text)],
      metadata: undefined,
    });
    const status = (state: TaskState, text?: string): void => {
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId,
          status: { state, message: text === undefined ? undefined : said(text), timestamp: new Date().toISOString() },
          metadata: { state: String(state) },
        }),
      );
    };
    if (word === 'message') {
      bus.publish(AgentEvent.message({ ...said('just words'), taskId: '' }));
      bus.finished();
      return;
    }
    const opened = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: new Date().toISOString() };
    bus.publish(
      AgentEvent.task({
        ...(task ?? { id: taskId, contextId, artifacts: [], history: [userMessage], metadata: undefined }),
        status: opened,
      }),
    );
    status(TaskState.TASK_STATE_WORKING, 'looking at it');
    if (word === 'wait') await this.#bell.promise;
    if (word === 'ask') status(TaskState.TASK_STATE_INPUT_REQUIRED, 'which one?');
    else if (word === 'fail') status(TaskState.TASK_STATE_FAILED, 'could not');
    else {
      const artifact = {
        artifactId: 'a1',
        name: 'copy',
        description: '',
        parts: userMessage.parts,
        metadata: undefined,
        extensions: [],
      };
      bus.publish(
        AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined }),
      );
      status(TaskState.TASK_STATE_COMPLETED, 'done');
    }
    bus.finished();
  }

  cancelTask = async (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    bus.publish(
      AgentEvent.statusUpdate({
        taskId,
        contextId: '',
        status: { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp: new Date().toISOString() },
        metadata: undefined,
      }),
    );
    bus.finished();
    await Promise.resolve();
  };
}

function textPart(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' };
}
