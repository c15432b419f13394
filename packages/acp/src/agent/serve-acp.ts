import {
  agent,
  type AgentApp,
  type InitializeResponse,
  MessageTooLargeError,
  methods,
  PROTOCOL_VERSION,
} from '@agentclientprotocol/sdk';
import { quietLogger } from '@parley/harness';
import { within } from '@parley/shell';
import type { AcpServer, ServeAcpOptions } from './acp-agent-types.js';
import { AcpSessions } from './acp-sessions.js';
import { agentStream } from './agent-stream.js';
import { InFlight } from './in-flight.js';
import { NodeOutput } from './node-output.js';
import { parsers } from './request-params.js';
import { invalidParams, toRequestError } from './rpc-failures.js';

const MAX_OPEN_REQUESTS = 1_000;
const DEFAULT_CLOSE_MS = 10_000;
/** A client that neither reads nor leaves is not waited for. */
const LAST_WRITES_MS = 1_000;

/**
 * Serves agents of the harness to one client of the Agent Client Protocol, version 1, as lines of JSON. Ends when the
 * input ends: open prompts are cancelled and answered, agents are shut down, `closed` resolves.
 *
 * @example
 * ```ts
 * const server = serveAcp({
 *   input: process.stdin,
 *   output: process.stdout,
 *   info: { name: 'my-agent', version: '1.0.0' },
 *   agentId: 'my-agent',
 *   storage: new JsonlSessionStorage('/var/lib/my-agent'),
 *   makeAgent: ({ journal, onEvent }) => new Agent(model, { agentId: 'my-agent', session: journal, sinks: [{ emit: onEvent }] }),
 * });
 * await server.closed;
 * ```
 */
export function serveAcp(options: ServeAcpOptions): AcpServer {
  const { logger = quietLogger, closeMs = DEFAULT_CLOSE_MS } = options;
  const inFlight = new InFlight();
  // A client that does not read any more is gone, whether it says so or not.
  const output = new NodeOutput(options.output, () => void close());
  const app = agent({ name: options.info.name });
  // The connection calls back only later than in this turn of the event loop.
  const own: { sessions?: AcpSessions } = {};
  const sessions = (): AcpSessions => {
    if (own.sessions === undefined) throw new Error('no connection');
    return own.sessions;
  };
  register(app, options, sessions, async (work) => {
    try {
      return await inFlight.track(work);
    } catch (error) {
      throw toRequestError(error, logger);
    }
  });
  let ending: Promise<void> | undefined;
  const endWork = (): Promise<void> => (ending ??= finishWork());
  const finishWork = async (): Promise<void> => {
    const ended = Promise.all([sessions().closeAll(), inFlight.idle()]);
    const isEnded = await within(Math.min(LAST_WRITES_MS, closeMs), ended);
    if (!isEnded && output.isBlocked) output.giveUp(new Error('the client does not read'));
    if (!isEnded && !(await within(closeMs, ended))) {
      logger.warn('an agent did not end in time', { closeMs });
      output.giveUp(new Error('the connection is closing'));
    }
    // The last answers are on their way: each takes some turns of the promises between here and the output.
    await new Promise(setImmediate);
  };
  const connection = app.connect(
    agentStream({
      input: options.input,
      output,
      maxMessageBytes: options.maxMessageBytes,
      maxOpenRequests: MAX_OPEN_REQUESTS,
      onInputEnd: endWork,
    }),
  );
  own.sessions = new AcpSessions(options, connection.client);
  const closed = connection.closed.then(() => {
    const reason: unknown = connection.signal.reason;
    if (reason instanceof MessageTooLargeError) logger.warn(reason.message, {});
    return endWork();
  });
  const close = async (): Promise<void> => {
    await endWork();
    connection.close();
    await closed;
  };
  return { closed, close };
}

type Tracked = <T>(work: () => Promise<T> | T) => Promise<T>;

function register(app: AgentApp, options: ServeAcpOptions, sessions: () => AcpSessions, tracked: Tracked): void {
  const { session } = methods.agent;
  // These two come first, in this order: the SDK asks one handler after the other, and a cancel that was sent behind a
  // prompt must not overtake it.
  app.onRequest(session.prompt, parsers.prompt, ({ params, signal }) =>
    tracked(() => sessions().prompt(params, signal)),
  );
  app.onNotification(session.cancel, parsers.ofSession, ({ params }) => sessions().cancel(params.sessionId));
  // The SDK holds back everything else until this one is answered.
  app.onRequest(methods.agent.initialize, () => initialize(options));
  app.onRequest(methods.agent.authenticate, parsers.authenticate, ({ params }) =>
    tracked(() => authenticate(options, params.methodId)),
  );
  app.onRequest(session.new, parsers.newSession, ({ params }) => tracked(() => sessions().create(params)));
  app.onRequest(session.load, parsers.openSession, ({ params }) => tracked(() => sessions().load(params)));
  app.onRequest(session.resume, parsers.openSession, ({ params }) => tracked(() => sessions().resume(params)));
  app.onRequest(session.list, parsers.listSessions, ({ params }) => tracked(() => sessions().list(params)));
  app.onRequest(session.close, parsers.ofSession, ({ params }) =>
    tracked(async () => {
      await sessions().close(params.sessionId);
      return {};
    }),
  );
  app.onRequest(session.delete, parsers.ofSession, ({ params }) =>
    tracked(async () => {
      await sessions().delete(params.sessionId);
      return {};
    }),
  );
  app.onRequest(session.setMode, parsers.setMode, ({ params }) =>
    tracked(async () => {
      await sessions().setMode(params.sessionId, params.modeId);
      return {};
    }),
  );
  app.onRequest(session.setConfigOption, parsers.setConfigOption, ({ params }) =>
    tracked(async () => ({
      configOptions: await sessions().setOption(params.sessionId, params.configId, params.value),
    })),
  );
}

/** Whatever version was asked for: there is one, and the client leaves if it cannot speak it. */
function initialize({ info, auth, deleteSession }: ServeAcpOptions): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: info,
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: false, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: false },
      sessionCapabilities: { list: {}, resume: {}, close: {}, ...(deleteSession && { delete: {} }) },
    },
    authMethods: [...(auth?.methods ?? [])],
  };
}

async function authenticate({ auth }: ServeAcpOptions, methodId: string): Promise<Record<string, never>> {
  if (auth?.methods.some(({ id }) => id === methodId) !== true) {
    throw invalidParams({ path: 'methodId', message: 'there is no such method' });
  }
  await auth.authenticate(methodId);
  return {};
}
