import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { randomUUID } from 'node:crypto';
import {
  type AgentContext,
  type ListSessionsResponse,
  type NewSessionResponse,
  type PromptResponse,
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
} from '@agentclientprotocol/sdk';
import { messageOf, openSession, quietLogger, type StoredSession } from '@parley/harness';
import type { ServeAcpOptions } from './acp-agent-types.js';
import { LiveSession } from './live-session.js';
import { readMcpServers } from './mcp-servers.js';
import { promptTask } from './prompt-task.js';
import { replayHistory } from './replay-history.js';
import type { ListParams, OpeningParams, OpenSessionParams, PromptParams } from './request-params.js';
import { invalidParams, notNow } from './rpc-failures.js';
import { MemorySessionDirectory, type SessionDirectory } from './session-directory.js';
import { sessionPage } from './session-pages.js';
import { SessionSettings } from './session-settings.js';
import { contextOf } from './trace-parent.js';

/** What a client is told of a session that it has opened. */
interface OpenedState {
  readonly modes?: SessionModeState;
  readonly configOptions?: SessionConfigOption[];
}

const SESSION_ID = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/u;
const DEFAULT_MAX_SESSIONS = 100;
const MAX_TITLE_CHARS = 120;
/** A run of another process is not waited for: whoever asked would not know why nothing happens. */
const LOCK_WAIT_MS = 500;

/** The sessions of one connection. */
export class AcpSessions {
  readonly #options: ServeAcpOptions;
  readonly #client: AgentContext;
  readonly #directory: SessionDirectory;
  readonly #live = new Map<string, LiveSession>();
  /** Ids of sessions that are being opened, closed or deleted. */
  readonly #busy = new Set<string>();
  #isClosed = false;

  constructor(options: ServeAcpOptions, client: AgentContext) {
    this.#options = options;
    this.#client = client;
    this.#directory = options.directory ?? new MemorySessionDirectory();
  }

  async create(params: OpeningParams): Promise<NewSessionResponse> {
    const sessionId = (this.#options.newSessionId ?? randomUUID)();
    const opened = await this.#alone(sessionId, () => this.#open(sessionId, params));
    return { sessionId, ...this.#opened(opened.live) };
  }

  /** Tells all that was said before it resolves. */
  async load(params: OpenSessionParams): Promise<OpenedState> {
    return this.#again(params, async (live, stored) => {
      for (const update of replayHistory(stored.entries, live.cwd)) await live.send(update);
    });
  }

  async resume(params: OpenSessionParams): Promise<OpenedState> {
    return this.#again(params, () => Promise.resolve());
  }

  async list({ cwd, cursor }: ListParams): Promise<ListSessionsResponse> {
    if (typeof cwd === 'string' && !isAbsolute(cwd)) throw invalidParams({ path: 'cwd', message: 'must be absolute' });
    return sessionPage(await this.#directory.list(), { cwd, cursor });
  }

  async prompt({ sessionId, prompt, _meta }: PromptParams, signal: AbortSignal): Promise<PromptResponse> {
    const live = this.#find(sessionId);
    const task = promptTask(prompt);
    return live.prompt(task, contextOf(_meta), signal, () => this.#remember(live, task));
  }

  /** A session that is not there has nothing to cancel. */
  cancel(sessionId: string): void {
    this.#live.get(sessionId)?.cancel();
  }

  async setMode(sessionId: string, modeId: string): Promise<void> {
    const live = this.#find(sessionId);
    live.settings.setMode(modeId);
    await this.#tellMode(live);
  }

  async setOption(sessionId: string, configId: string, value: unknown): Promise<SessionConfigOption[]> {
    const live = this.#find(sessionId);
    if (live.settings.setOption(configId, value)) await this.#tellMode(live);
    return live.settings.configOptions ?? [];
  }

  async close(sessionId: string): Promise<void> {
    const live = this.#find(sessionId);
    await this.#alone(sessionId, () => this.#end(live));
  }

  async delete(sessionId: string): Promise<void> {
    const { deleteSession } = this.#options;
    if (deleteSession === undefined) throw RequestError.methodNotFound('session/delete');
    await this.#alone(sessionId, async () => {
      const live = this.#live.get(sessionId);
      if (live !== undefined) await this.#end(live);
      else if ((await this.#stored(sessionId)) === null) throw RequestError.sessionNotFound(sessionId);
      await deleteSession(sessionId);
      await this.#directory.forget(sessionId);
    });
  }

  /** Ends all of them; no other is opened. Never rejects. */
  async closeAll(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#live.values()].map((live) => this.#end(live)));
  }

  async #again(
    params: OpenSessionParams,
    tell: (live: LiveSession, stored: StoredSession) => Promise<void>,
  ): Promise<OpenedState> {
    const { sessionId } = params;
    return this.#alone(sessionId, async () => {
      const before = this.#live.get(sessionId);
      if (before?.isPrompting === true) {
        throw notNow('prompt_open', 'a prompt of this session is open', { sessionId });
      }
      if (before === undefined && (await this.#stored(sessionId)) === null)
        throw RequestError.sessionNotFound(sessionId);
      if (before !== undefined) await this.#end(before);
      const { live, stored } = await this.#open(sessionId, params);
      if (stored !== null) await tell(live, stored);
      return this.#opened(live);
    });
  }

  async #open(
    sessionId: string,
    params: OpeningParams,
  ): Promise<{ readonly live: LiveSession; readonly stored: StoredSession | null }> {
    const { auth, storage, agentId, modes, configOptions, commands, contextWindowTokens, makeAgent } = this.#options;
    if (auth?.isRequired?.() === true) throw RequestError.authRequired();
    const max = this.#options.maxSessions ?? DEFAULT_MAX_SESSIONS;
    // Those that are being opened count: their ids are busy and not yet live.
    const opening = [...this.#busy].filter((id) => !this.#live.has(id)).length;
    if (this.#live.size + opening > max) {
      throw notNow('too_many_sessions', `no more than ${max} sessions can be open; close one first`, {
        maxSessions: max,
      });
    }
    await checkFolder(params.cwd);
    if ((params.additionalDirectories ?? []).length > 0) {
      throw invalidParams({ path: 'additionalDirectories', message: 'are not supported' });
    }
    const mcpServers = readMcpServers(params.mcpServers ?? [], params.cwd);
    const { journal, session } = await openSession({
      storage,
      sessionId,
      agentId,
      onUnfinished: 'abandon',
      runLockWaitMs: LOCK_WAIT_MS,
    });
    const live = new LiveSession({
      id: sessionId,
      cwd: params.cwd,
      mcpServers,
      journal,
      settings: new SessionSettings(modes, configOptions ?? []),
      client: this.#client,
      commands: commands ?? [],
      contextWindowTokens,
    });
    const agent = await makeAgent(live);
    live.attach(agent);
    if (session !== null) agent.restore(session);
    if (this.#isClosed) {
      await live.close();
      throw notNow('closing', 'the agent is closing');
    }
    this.#live.set(sessionId, live);
    return { live, stored: session };
  }

  #opened(live: LiveSession): OpenedState {
    const commands = this.#options.commands ?? [];
    if (commands.length > 0) {
      // Behind the answer, without which the client does not know the session.
      setImmediate(() => {
        const availableCommands = commands.map(({ name, description, hint }) => ({
          name,
          description,
          ...(hint !== undefined && { input: { hint } }),
        }));
        void live.send({ sessionUpdate: 'available_commands_update', availableCommands });
      });
    }
    const { modeState, configOptions } = live.settings;
    return { ...(modeState && { modes: modeState }), ...(configOptions && { configOptions }) };
  }

  async #tellMode(live: LiveSession): Promise<void> {
    await live.send({ sessionUpdate: 'current_mode_update', currentModeId: live.mode });
    const { configOptions } = live.settings;
    if (configOptions !== undefined) await live.send({ sessionUpdate: 'config_option_update', configOptions });
  }

  /** The first prompt gives a session its title and its place in the list. */
  async #remember(live: LiveSession, task: string): Promise<void> {
    const { id: sessionId, cwd } = live;
    const { now = Date.now, logger = quietLogger } = this.#options;
    const updatedAt = now();
    try {
      const before = await this.#directory.find(sessionId);
      const title = before?.title ?? titleOf(task);
      await this.#directory.remember({ sessionId, cwd, title, updatedAt });
      if (before !== undefined) return;
      await live.send({ sessionUpdate: 'session_info_update', title, updatedAt: new Date(updatedAt).toISOString() });
    } catch (error) {
      // The list is a convenience: the work goes on.
      logger.warn('facts of a session could not be kept', { sessionId, error: messageOf(error) });
    }
  }

  #find(sessionId: string): LiveSession {
    const live = this.#live.get(sessionId);
    if (live === undefined) throw RequestError.sessionNotFound(sessionId);
    return live;
  }

  async #stored(sessionId: string): Promise<StoredSession | null> {
    if (!SESSION_ID.test(sessionId)) return null;
    const stored = await this.#options.storage.load(sessionId);
    const isOwn = stored !== null && (stored.agentId === null || stored.agentId === this.#options.agentId);
    return isOwn ? stored : null;
  }

  async #end(live: LiveSession): Promise<void> {
    await live.close();
    if (this.#live.get(live.id) === live) this.#live.delete(live.id);
  }

  /** Two requests that would open or end one session at the same time: the second is turned away. */
  async #alone<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    if (this.#busy.has(sessionId)) throw notNow('session_busy', 'the session is being opened or closed', { sessionId });
    this.#busy.add(sessionId);
    try {
      return await work();
    } finally {
      this.#busy.delete(sessionId);
    }
  }
}

async function checkFolder(cwd: string): Promise<void> {
  const wrong = (message: string) => invalidParams({ path: 'cwd', message });
  if (!isAbsolute(cwd) || cwd.includes('\0')) throw wrong('must be an absolute path');
  const stats = await stat(cwd).catch(() => undefined);
  if (stats === undefined) throw wrong('does not exist');
  if (!stats.isDirectory()) throw wrong('is no folder');
  await access(cwd, constants.X_OK).catch(() => {
    throw wrong('cannot be entered');
  });
}

function titleOf(task: string): string {
  const line = task.trim().replace(/\s+/gu, ' ');
  return line.length <= MAX_TITLE_CHARS ? line : `${line.slice(0, MAX_TITLE_CHARS).toWellFormed()}…`;
}
