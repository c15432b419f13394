import type { JsonObject } from '../json/index.js';
import { ProxyFailed, ProxyRefused, ProxyUnauthorized, TurnGone } from './client-errors.js';
import { type HttpCall, ProxyHttp, type ProxyHttpOptions, readJson } from './proxy-http.js';
import {
  readActionState,
  readAddedServer,
  readAddedSkill,
  readConfig,
  readObject,
  readPage,
  readServers,
  readSkills,
  readTools,
  readTrajectory,
  readTurns,
} from './read-answers.js';
import { sentenceOf } from './sentence-of.js';
import type {
  ActionState,
  ConfiguredServer,
  ProxyAction,
  ProxyTool,
  ProxyTurns,
  RecordedCall,
  TrajectoryOf,
  TrajectoryPage,
} from './wire-types.js';

const CALL_MS = 60_000;
/** The calls that wait for a listing of tools, for which the proxy has 600 s. */
const LISTING_MS = 660_000;

export interface ProxyClientOptions extends ProxyHttpOptions {
  /** The driver's: at least 22 characters that nobody can guess. Not needed for configuration and trajectories. */
  readonly token?: string | undefined;
  /** Sent with claims alone, such as the agreement that the driver shows, with its secret. */
  readonly claimHeaders?: Readonly<Record<string, string>> | undefined;
  /** A call's time, in milliseconds; default 60,000. */
  readonly callMs?: number | undefined;
  /** The time of `tools` and `record`, in milliseconds; default 660,000. */
  readonly listingMs?: number | undefined;
}

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * One proxy as its driver, and whoever configures it, see it. A call without an answer is made three times, a second
 * apart; `record` only if the proxy surely has not seen it.
 *
 * Every call throws, besides what it names: ProxyRefused (400, 409), ProxyUnauthorized (401), ProxyFailed (any other
 * status), ProxyUnreachable (no answer), ProxyMisread (an answer that no proxy gives), and the reason of its signal.
 *
 * @example
 * const client = new ProxyClient({ url: 'http://localhost:8003', token });
 * await client.claim();
 * const { turns } = await client.next(0);
 */
export class ProxyClient {
  readonly #http: ProxyHttp;
  readonly #token: string;
  readonly #claimHeaders: Readonly<Record<string, string>> | undefined;
  readonly #callMs: number;
  readonly #listingMs: number;

  /** @throws TypeError for an address that is none. */
  constructor(options: ProxyClientOptions) {
    this.#http = new ProxyHttp(options);
    this.#token = options.token ?? '';
    this.#claimHeaders = options.claimHeaders;
    this.#callMs = options.callMs ?? CALL_MS;
    this.#listingMs = options.listingMs ?? LISTING_MS;
  }

  /** Where the proxy is. */
  get url(): string {
    return this.#http.base;
  }

  /** Makes it ours, or finds that it is. @throws ProxyRefused 409 if it is another's. */
  async claim(options: CallOptions = {}): Promise<void> {
    await this.#driver('claim', {}, { ...options, headers: this.#claimHeaders });
  }

  /** The open turns, as soon as something has changed since `after`, or after the proxy's long poll. */
  async next(after: number, options: CallOptions = {}): Promise<ProxyTurns> {
    return readTurns(await this.#driver('next', { after }, options));
  }

  /** @throws TurnGone; ProxyFailed 502 if a server does not list; ProxyRefused 409 for a name that two offer. */
  async tools(taskId: string, options: CallOptions = {}): Promise<readonly ProxyTool[]> {
    const body = { task_id: taskId };
    return readTools(await this.#driver('tools', body, { ...options, isTurns: true, limitMs: this.#listingMs }));
  }

  /**
   * Starts an action, or finds the one that has this id, and waits a while for its end. Safe to repeat.
   *
   * @throws TurnGone; ProxyRefused 409 if the last recorded model call did not make this call.
   */
  async act(taskId: string, actionId: string, action: ProxyAction, options: CallOptions = {}): Promise<ActionState> {
    const body = { task_id: taskId, action_id: actionId, action: wireAction(action) };
    return readActionState(await this.#driver('act', body, { ...options, isTurns: true }));
  }

  /**
   * Waits a while for an action's end. `after` asks for the output of a command that still runs; a proxy that cannot
   * tell refuses it with 400.
   *
   * @throws TurnGone
   */
  async result(
    actionId: string,
    options: CallOptions & { readonly after?: number | undefined } = {},
  ): Promise<ActionState> {
    const { after, signal } = options;
    const body = { action_id: actionId, ...(after !== undefined && { after }) };
    return readActionState(await this.#driver('result', body, { signal, isTurns: true }));
  }

  /** @throws TurnGone; ProxyRefused 409 while calls of the message recorded before have not run. */
  async record(taskId: string, call: RecordedCall, options: CallOptions = {}): Promise<void> {
    const { message, model = null, usage = null } = call;
    const body = { task_id: taskId, message, model, usage };
    await this.#driver('record', body, { ...options, isTurns: true, limitMs: this.#listingMs, isOnce: true });
  }

  /**
   * Ends a turn with its answer, of which a sender may read only the last part, or with an error.
   *
   * @throws TurnGone also if an earlier try ended it whose answer was lost; ProxyRefused 409 while calls have not run.
   */
  async reply(
    taskId: string,
    answer: { readonly text: string | readonly string[] } | { readonly error: string },
    options: CallOptions = {},
  ): Promise<void> {
    const end =
      'text' in answer
        ? { parts: [answer.text].flat().map((text) => ({ kind: 'text', text })) }
        : { error: answer.error };
    await this.#driver('reply', { task_id: taskId, ...end }, { ...options, isTurns: true });
  }

  /** Sets fields of the agent: `system_prompt`, `name`, `description`, `role`, `timeout_seconds`. */
  async configureAgent(changes: JsonObject, { signal }: CallOptions = {}): Promise<void> {
    await this.#json({ path: '/ext/agent-config', body: changes, signal });
  }

  /** Only what was ever set. */
  async agentConfig({ signal }: CallOptions = {}): Promise<JsonObject> {
    return readConfig(await this.#json({ method: 'GET', path: '/ext/agent-config', signal }));
  }

  /** @returns its name, which the proxy makes if none is given. @throws ProxyRefused 409 for a name or url that is taken. */
  async addServer(
    server: {
      readonly url: string;
      readonly name?: string | undefined;
      readonly headers?: Readonly<Record<string, string>> | undefined;
    },
    { signal }: CallOptions = {},
  ): Promise<string> {
    const { url, name, headers } = server;
    const body = { url, ...(name !== undefined && { name }), ...(headers !== undefined && { headers }) };
    return readAddedServer(await this.#json({ path: '/ext/mcp-config', body, signal })).name;
  }

  async servers({ signal }: CallOptions = {}): Promise<readonly ConfiguredServer[]> {
    return readServers(await this.#json({ method: 'GET', path: '/ext/mcp-config', signal }));
  }

  /** @throws ProxyRefused 409 for a name that is taken. */
  async addSkill(
    skill: { readonly name: string; readonly description: string; readonly skillMd: string },
    { signal }: CallOptions = {},
  ): Promise<void> {
    const body = { name: skill.name, description: skill.description, skill_md: skill.skillMd };
    readAddedSkill(await this.#json({ path: '/ext/skill-config', body, signal }));
  }

  async skills({ signal }: CallOptions = {}): Promise<
    readonly { readonly name: string; readonly description: string }[]
  > {
    return readSkills(await this.#json({ method: 'GET', path: '/ext/skill-config', signal }));
  }

  /** All events of a turn that has ended, or of a context so far. @throws ProxyFailed 404 if there is none. */
  async trajectory(of: TrajectoryOf, { signal }: CallOptions = {}): Promise<readonly JsonObject[]> {
    return readTrajectory(await this.#json({ path: '/ext/trajectory', body: wireSubject(of), signal }));
  }

  /** The events from `after` on, also while the turn is open. @throws ProxyFailed 404 for one that is not known. */
  async trajectoryPage(
    of: TrajectoryOf,
    after: number,
    { limit, signal }: CallOptions & { readonly limit?: number | undefined } = {},
  ): Promise<TrajectoryPage> {
    const body = { ...wireSubject(of), after, ...(limit !== undefined && { limit }) };
    return readPage(await this.#json({ path: '/ext/trajectory', body, signal }));
  }

  /** The agent's card. */
  async card({ signal }: CallOptions = {}): Promise<JsonObject> {
    return readObject(await this.#json({ method: 'GET', path: '/.well-known/agent.json', signal }));
  }

  /** Ends all connections; calls under way fail. */
  async close(): Promise<void> {
    await this.#http.close();
  }

  async #driver(
    operation: string,
    body: object,
    options: CallOptions &
      Pick<HttpCall, 'isOnce' | 'headers'> & { readonly isTurns?: true; readonly limitMs?: number },
  ): Promise<unknown> {
    const { isTurns, ...rest } = options;
    return this.#json({ path: `/ext/proxy/${operation}`, body: { token: this.#token, ...body }, ...rest }, isTurns);
  }

  async #json(call: Omit<HttpCall, 'limitMs'> & { readonly limitMs?: number }, isTurns?: true): Promise<unknown> {
    const { status, text } = await this.#http.call({ limitMs: this.#callMs, ...call });
    if (status >= 200 && status < 300) return readJson(text);
    const sentence = sentenceOf(status, text);
    if (status === 400 || status === 409) throw new ProxyRefused(status, sentence);
    if (status === 401) throw new ProxyUnauthorized(sentence);
    if (status === 404 && isTurns === true) throw new TurnGone(sentence);
    throw new ProxyFailed(status, sentence);
  }
}

function wireAction(action: ProxyAction): object {
  const { timeoutSeconds, ...rest } = action;
  return { ...rest, ...(timeoutSeconds !== undefined && { timeout_seconds: timeoutSeconds }) };
}

function wireSubject(of: TrajectoryOf): { readonly task_id: string } | { readonly context_id: string } {
  return 'taskId' in of ? { task_id: of.taskId } : { context_id: of.contextId };
}
