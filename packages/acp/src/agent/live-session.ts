import {
  type AgentContext,
  methods,
  type PermissionOption,
  type PromptResponse,
  RequestError,
  type SessionUpdate,
  type StopReason,
} from '@agentclientprotocol/sdk';
import { type Context, context } from '@opentelemetry/api';
import type { AgentApi, AgentEvent, McpServerConfig, SessionJournal, ToolApprovalRequest } from '@parley/harness';
import type { AcpAgentSession, AcpCommand } from './acp-agent-types.js';
import { describeToolCall } from './describe-tool-call.js';
import { PermissionAsker } from './permission-asker.js';
import { notNow } from './rpc-failures.js';
import { RunUpdates } from './run-updates.js';
import type { SessionSettings } from './session-settings.js';
import { stopReasonOf } from './stop-reason.js';
import { ToolWatch } from './tool-watch.js';

export interface LiveSessionOptions {
  readonly id: string;
  readonly cwd: string;
  readonly mcpServers: Readonly<Record<string, McpServerConfig>>;
  readonly journal: SessionJournal;
  readonly settings: SessionSettings;
  readonly client: AgentContext;
  readonly commands: readonly AcpCommand[];
  readonly contextWindowTokens: number | undefined;
}

/** A session that a client has opened: one agent, at most one prompt at a time. */
export class LiveSession implements AcpAgentSession {
  readonly id: string;
  readonly cwd: string;
  readonly mcpServers: Readonly<Record<string, McpServerConfig>>;
  readonly journal: SessionJournal;
  readonly settings: SessionSettings;
  readonly toolWatch = new ToolWatch();
  readonly #client: AgentContext;
  readonly #commands: readonly AcpCommand[];
  readonly #updates: RunUpdates;
  readonly #permissions: PermissionAsker;
  #agent: AgentApi | undefined;
  /** Aborts the prompt that is open. */
  #turn: AbortController | undefined;
  #isClosed = false;

  constructor(options: LiveSessionOptions) {
    this.id = options.id;
    this.cwd = options.cwd;
    this.mcpServers = options.mcpServers;
    this.journal = options.journal;
    this.settings = options.settings;
    this.#client = options.client;
    this.#commands = options.commands;
    this.#updates = new RunUpdates({
      cwd: options.cwd,
      contextWindowTokens: options.contextWindowTokens,
      effectOf: (name) => this.toolWatch.effectOf(name),
      send: (update) => this.send(update),
    });
    this.#permissions = new PermissionAsker({
      ask: (request, permissionOptions, signal) => this.#ask(request, permissionOptions, signal),
      onCancelled: () => this.cancel(),
      onAllowed: (callId) => this.#updates.allowed(callId),
    });
  }

  get mode(): string {
    return this.settings.mode;
  }

  get config(): Readonly<Record<string, string>> {
    return this.settings.values;
  }

  get isPrompting(): boolean {
    return this.#turn !== undefined;
  }

  readonly askApproval: AcpAgentSession['askApproval'] = (request, signal) =>
    this.#permissions.approve(request, signal);

  readonly onEvent = (event: AgentEvent): Promise<void> => this.#updates.on(event);

  /** To be called once, before the first prompt. */
  attach(agent: AgentApi): void {
    this.#agent = agent;
  }

  /** Resolves when it is written, or when nothing can be written any longer. */
  async send(update: SessionUpdate): Promise<void> {
    try {
      await this.#client.notify(methods.client.session.update, { sessionId: this.id, update });
    } catch {
      // The connection has ended: nobody is there to be told.
    }
  }

  /**
   * Runs a task to its end. All updates of it are written when this resolves.
   *
   * @throws RequestError if a prompt is open, or if the run failed.
   */
  async prompt(
    task: string,
    parent: Context,
    requestSignal: AbortSignal,
    prepare: () => Promise<void>,
  ): Promise<PromptResponse> {
    const agent = this.#agent;
    if (agent === undefined || this.#isClosed) throw RequestError.sessionNotFound(this.id);
    if (this.#turn !== undefined) {
      throw notNow('prompt_open', 'another prompt of this session is open', { sessionId: this.id });
    }
    const turn = new AbortController();
    this.#turn = turn;
    const onRequestCancelled = (): void => this.cancel();
    requestSignal.addEventListener('abort', onRequestCancelled, { once: true });
    try {
      await prepare();
      return { stopReason: turn.signal.aborted ? 'cancelled' : await this.#run(agent, task, parent, turn.signal) };
    } finally {
      requestSignal.removeEventListener('abort', onRequestCancelled);
      this.#turn = undefined;
    }
  }

  /** Ends the prompt that is open. Does nothing to the one after it. */
  cancel(): void {
    this.#turn?.abort(new Error('cancelled by the client'));
  }

  /** Cancels, and waits until the agent has ended. Idempotent; never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.cancel();
    await this.#agent?.shutdown().catch(() => undefined);
  }

  async #run(agent: AgentApi, task: string, parent: Context, signal: AbortSignal): Promise<StopReason> {
    const skill = this.#commandOf(task);
    try {
      const result = await context.with(parent, () =>
        agent.run(task, { signal, ...(skill !== undefined && { skill }) }),
      );
      return signal.aborted ? 'cancelled' : stopReasonOf(result);
    } catch (error) {
      if (signal.aborted) return 'cancelled';
      throw error;
    }
  }

  #commandOf(task: string): string | undefined {
    const name = /^\/(\S+)/u.exec(task)?.[1];
    return this.#commands.find((command) => command.name === name)?.name;
  }

  #ask(request: ToolApprovalRequest, options: PermissionOption[], signal: AbortSignal): Promise<unknown> {
    const { callId, toolName, arguments: values, effect } = request;
    const unknownCall = { id: callId, name: toolName, arguments: JSON.stringify(values) };
    const toolCall = this.#updates.picture(callId) ?? {
      toolCallId: callId,
      status: 'pending' as const,
      ...describeToolCall(unknownCall, this.cwd, effect),
    };
    return this.#client.request(
      methods.client.session.requestPermission,
      { sessionId: this.id, toolCall, options },
      { cancellationSignal: signal, stopWaitingOnCancel: true },
    );
  }
}
