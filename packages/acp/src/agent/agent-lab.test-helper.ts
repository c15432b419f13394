import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import {
  client,
  type ClientConnection,
  type ClientContext,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import {
  Agent,
  type AgentOptions,
  MemorySessionStorage,
  type ModelAdapter,
  RuleBasedToolPolicy,
  ScriptedModel,
  type ScriptedStep,
  type SessionStorage,
  type ToolHandler,
  ToolPolicyMiddleware,
} from '@parley/harness';
import type { AcpAgentSession, AcpServer, ServeAcpOptions } from './acp-agent-types.js';
import { serveAcp } from './serve-acp.js';

export const AGENT_ID = 'lab';

export type Answer = 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';

export interface LabOptions extends Partial<ServeAcpOptions> {
  /** One list for each session, in the order in which they are made. */
  readonly steps?: readonly (readonly ScriptedStep[])[];
  readonly model?: ModelAdapter;
  readonly handlers?: (session: AcpAgentSession) => readonly ToolHandler[];
  /** Default: nothing is asked about. */
  readonly asks?: boolean;
  readonly agent?: Partial<AgentOptions>;
  /** Default: no handler, so that the client does not know the method. */
  readonly onPermission?: (request: RequestPermissionRequest) => Promise<RequestPermissionResponse>;
}

const labs: AgentLab[] = [];
const folders: string[] = [];

/** To be called after each test. */
export async function closeLabs(): Promise<void> {
  for (const lab of labs.splice(0)) await lab.server.close();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
}

export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-acp-agent-'));
  folders.push(folder);
  return folder;
}

/** A server on streams of this process. */
export class AgentLab {
  readonly server: AcpServer;
  readonly storage: SessionStorage;
  readonly toAgent = new PassThrough();
  readonly fromAgent = new PassThrough();
  readonly sessions: AcpAgentSession[] = [];

  constructor(options: LabOptions = {}) {
    const { steps = [], model, handlers, asks, agent, ...rest } = options;
    this.storage = options.storage ?? new MemorySessionStorage();
    this.server = serveAcp({
      input: this.toAgent,
      output: this.fromAgent,
      info: { name: 'lab', title: 'Lab', version: '1.2.3' },
      agentId: AGENT_ID,
      storage: this.storage,
      closeMs: 5_000,
      makeAgent: (session) => {
        const script = steps[this.sessions.length] ?? steps.at(-1) ?? [];
        this.sessions.push(session);
        return new Agent(model ?? new ScriptedModel(script), {
          agentId: AGENT_ID,
          session: session.journal,
          sinks: [{ emit: session.onEvent }],
          handlers: handlers?.(session) ?? [],
          middlewares: [session.toolWatch, ...(asks === true ? [askingPolicy(session)] : [])],
          ...agent,
        });
      },
      ...rest,
    });
    labs.push(this);
  }
}

function askingPolicy(session: AcpAgentSession): ToolPolicyMiddleware {
  const policy = new RuleBasedToolPolicy([{ ruleId: 'reads', action: 'allow', effects: ['read_only'] }], {
    defaultAction: 'require_approval',
  });
  return new ToolPolicyMiddleware(policy, { approver: { approve: session.askApproval }, denial: 'tell_model' });
}

/** A lab with the SDK's client on the other side. */
export class ClientLab extends AgentLab {
  readonly notifications: SessionNotification[] = [];
  readonly permissions: RequestPermissionRequest[] = [];
  readonly #connection: ClientConnection;
  #heard = Promise.withResolvers<undefined>();

  constructor(options: LabOptions = {}) {
    super(options);
    const { onPermission } = options;
    const app = client().onNotification(methods.client.session.update, ({ params }) => {
      this.notifications.push(params);
      this.#tell();
    });
    if (onPermission !== undefined) {
      app.onRequest(methods.client.session.requestPermission, ({ params }) => {
        this.permissions.push(params);
        this.#tell();
        return onPermission(params);
      });
    }
    this.#connection = app.connect(
      ndJsonStream(
        Writable.toWeb(this.toAgent) as WritableStream<Uint8Array>,
        Readable.toWeb(this.fromAgent) as ReadableStream<Uint8Array>,
      ),
    );
  }

  get agent(): ClientContext {
    return this.#connection.agent;
  }

  get updates(): SessionUpdate[] {
    return this.notifications.map(({ update }) => update);
  }

  updatesOf<K extends SessionUpdate['sessionUpdate']>(kind: K): Extract<SessionUpdate, { sessionUpdate: K }>[] {
    return this.updates.filter(
      (update): update is Extract<SessionUpdate, { sessionUpdate: K }> => update.sessionUpdate === kind,
    );
  }

  async initialize(): Promise<void> {
    await this.agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
  }

  /** Initialises too, the first time. */
  async newSession(cwd?: string): Promise<string> {
    if (this.sessions.length === 0) await this.initialize();
    const made = await this.agent.request(methods.agent.session.new, { cwd: cwd ?? tmpdir(), mcpServers: [] });
    return made.sessionId;
  }

  prompt(sessionId: string, text: string, meta?: Record<string, unknown>) {
    return this.agent.request(methods.agent.session.prompt, {
      sessionId,
      prompt: [{ type: 'text', text }],
      ...(meta && { _meta: meta }),
    });
  }

  async cancel(sessionId: string): Promise<void> {
    await this.agent.notify(methods.agent.session.cancel, { sessionId });
  }

  /** Resolves as soon as it holds. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await this.#heard.promise;
  }

  #tell(): void {
    this.#heard.resolve(undefined);
    this.#heard = Promise.withResolvers<undefined>();
  }
}

export interface RawMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A lab whose client writes and reads lines. */
export class RawLab extends AgentLab {
  readonly messages: RawMessage[] = [];
  #heard = Promise.withResolvers<undefined>();
  #rest = '';

  constructor(options: LabOptions = {}) {
    super(options);
    this.fromAgent.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (this.#rest + chunk).split('\n');
      this.#rest = lines.pop() ?? '';
      this.messages.push(...lines.map((line) => JSON.parse(line) as RawMessage));
      this.#heard.resolve(undefined);
      this.#heard = Promise.withResolvers<undefined>();
    });
  }

  write(...messages: readonly object[]): void {
    this.toAgent.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
  }

  async answerTo(id: unknown): Promise<RawMessage> {
    return this.find((message) => message.method === undefined && message.id === id);
  }

  async find(fits: (message: RawMessage) => boolean): Promise<RawMessage> {
    for (;;) {
      const found = this.messages.find(fits);
      if (found !== undefined) return found;
      await this.#heard.promise;
    }
  }

  async request(id: string, method: string, params?: unknown): Promise<RawMessage> {
    this.write({ id, method, ...(params !== undefined && { params }) });
    return this.answerTo(id);
  }

  /** @returns the id of a new session. */
  async begin(): Promise<string> {
    await this.request('init', 'initialize', { protocolVersion: 1 });
    const made = await this.request('new', 'session/new', { cwd: tmpdir(), mcpServers: [] });
    return String(made.result?.['sessionId']);
  }
}

export function answering(...answers: readonly Answer[]): NonNullable<LabOptions['onPermission']> {
  const left = [...answers];
  return () => Promise.resolve({ outcome: { outcome: 'selected', optionId: left.shift() ?? 'reject_once' } });
}
