import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { A2aSender, Json, JsonObject, ProxyAction, ProxyClient, ProxyTool } from '@parley/proxy-protocol';
import type { ProxyPorts } from '../proxy-ports.js';
import type { RecordedTurnEvent } from '../trajectory/recorded-events.js';
import { compareEvents, type Difference } from './compare-events.js';
import type { ReplayedEvent, ReplayedTurn } from './replay-turns.js';

export interface ReplayingOptions {
  readonly client: ProxyClient;
  readonly sender: A2aSender;
  readonly proxy: ProxyPorts;
  readonly contextId: string;
  readonly signal: AbortSignal;
}

/** An event that was made is on record soon. */
const EVENT_WAIT_MS = 10_000;
/** An action that is to be cut off has been taken by then. */
const START_WAIT_MS = 10_000;
const PACE_MS = 50;
/** Ends of an action that come from outside of it: how far it came by then is chance. */
const CUT_OFF = new Set(['turn_over', 'cancelled', 'lost']);

/** Plays one saved turn. @returns the first difference. @throws what the proxy answers where no event is to blame. */
export async function replayTurn(turn: ReplayedTurn, options: ReplayingOptions): Promise<Difference | undefined> {
  const { client, sender, contextId, signal } = options;
  const { prompt, systemPrompt } = turn.end.read;
  await client.configureAgent({ system_prompt: systemPrompt }, { signal });
  const { id } = await sender.send(prompt, { contextId, signal });
  let isOver = false;
  try {
    const playing = new Replaying(id, await openTurn(id, options), options);
    for (const [at, step] of turn.steps.entries()) {
      const difference = await playing.step(step, at);
      if (difference !== undefined) return difference;
    }
    const refused = await playing.end(turn.end);
    if (refused !== undefined) return refused;
    isOver = true;
    await sender.ended(id, { signal, pollMs: PACE_MS });
    return await playing.check(turn.end, turn.steps.length);
  } finally {
    // What differs is not played on; nobody waits for the turn any more.
    if (!isOver) await client.reply(id, { error: 'the replay ended here' }).catch(() => undefined);
  }
}

/** @returns the tools of the turn, once it is open. */
async function openTurn(taskId: string, { client, sender, signal }: ReplayingOptions): Promise<readonly ProxyTool[]> {
  for (let after = 0; ;) {
    const { version, turns } = await client.next(after, { signal });
    if (turns.some((turn) => turn.taskId === taskId)) return client.tools(taskId, { signal });
    if ((await sender.get(taskId, { signal })).hasEnded)
      throw new Error(`the turn ${taskId} was over before it was open`);
    after = version;
  }
}

class Replaying {
  readonly #taskId: string;
  readonly #tools: readonly ProxyTool[];
  readonly #options: ReplayingOptions;
  readonly #cutOff: Promise<unknown>[] = [];

  constructor(taskId: string, tools: readonly ProxyTool[], options: ReplayingOptions) {
    this.#taskId = taskId;
    this.#tools = tools;
    this.#options = options;
  }

  /** `at`: its place in its turn. */
  async step(step: ReplayedEvent, at: number): Promise<Difference | undefined> {
    const { client, signal } = this.#options;
    const { read, event } = step;
    if (read.kind === 'chat') {
      const call = { message: messageOf(event, this.#options.proxy), model: read.model, usage: read.usage };
      return (
        (await this.#refusal(step, 'record', () => client.record(this.#taskId, call, { signal }))) ??
        this.check(step, at)
      );
    }
    if (read.kind !== 'action') return undefined;
    const action = actionOf(read, this.#tools);
    if (action === undefined) return missingTool(step, read.name, this.#tools);
    if (isCutOff(event)) {
      this.#cutOff.push(this.#run(action).catch(() => undefined));
      return undefined;
    }
    return (await this.#refusal(step, 'act', () => this.#run(action))) ?? this.check(step, at);
  }

  async end(step: ReplayedTurn['end']): Promise<Difference | undefined> {
    const { client, sender, signal } = this.#options;
    const { error, completion } = step.read;
    if (isCanceled(step.event)) {
      if (this.#cutOff.length > 0) await this.#cutOffStarted();
      await sender.cancel(this.#taskId, { signal });
      return undefined;
    }
    const texts = textsOf(completion);
    const reply = async (): Promise<void> =>
      client.reply(this.#taskId, error === null ? { text: texts } : { error }, { signal });
    return this.#refusal(step, 'reply', () => (this.#cutOff.length > 0 ? this.#onceStarted(reply) : reply()));
  }

  /** Compares an event with the one on the proxy's record. */
  async check({ index, event }: ReplayedEvent, at: number): Promise<Difference | undefined> {
    const got = await this.#eventAt(at);
    if (got === undefined) return { index, member: 'event', expected: event['name'], got: undefined };
    return compareEvents(index, event, got, this.#options.proxy, { ignoresResult: isCutOff(event) });
  }

  async #eventAt(at: number): Promise<JsonObject | undefined> {
    const until = performance.now() + EVENT_WAIT_MS;
    const { signal } = this.#options;
    for (;;) {
      const found = await this.#askEvent(at);
      if (found !== undefined || performance.now() > until) return found;
      await sleep(PACE_MS, undefined, { signal });
    }
  }

  async #askEvent(at: number): Promise<JsonObject | undefined> {
    const { client, proxy, signal } = this.#options;
    try {
      return (await client.trajectoryPage({ taskId: this.#taskId }, at, { limit: 1, signal })).events[0];
    } catch (error) {
      // A place beyond the end is refused.
      if (error instanceof proxy.ProxyRefused) return undefined;
      throw error;
    }
  }

  async #run(action: ProxyAction): Promise<void> {
    const { client, signal } = this.#options;
    const actionId = randomBytes(16).toString('hex');
    let state = await client.act(this.#taskId, actionId, action, { signal });
    while (!state.done) state = await client.result(actionId, { signal });
  }

  /** Only proxies that tell their actions have events of those that were cut off. */
  async #cutOffStarted(): Promise<void> {
    const { client, signal } = this.#options;
    const until = performance.now() + START_WAIT_MS;
    while (performance.now() < until) {
      const { turns } = await client.next(0, { signal });
      const running = turns.find(({ taskId }) => taskId === this.#taskId)?.actions.filter(({ done }) => !done) ?? [];
      if (running.length >= this.#cutOff.length) return;
      await sleep(PACE_MS, undefined, { signal });
    }
  }

  /** The proxy refuses an answer as long as a recorded call has not started. */
  async #onceStarted(reply: () => Promise<void>): Promise<void> {
    const { proxy, signal } = this.#options;
    const until = performance.now() + START_WAIT_MS;
    for (;;) {
      try {
        await reply();
        return;
      } catch (error) {
        const isTooSoon = error instanceof proxy.ProxyRefused && error.status === 409;
        if (!isTooSoon || performance.now() > until) throw error;
      }
      await sleep(PACE_MS, undefined, { signal });
    }
  }

  async #refusal({ index }: ReplayedEvent, call: string, work: () => Promise<void>): Promise<Difference | undefined> {
    const { proxy } = this.#options;
    try {
      await work();
      return undefined;
    } catch (error) {
      const isAnswer =
        error instanceof proxy.ProxyRefused || error instanceof proxy.TurnGone || error instanceof proxy.ProxyFailed;
      if (!isAnswer) throw error;
      return { index, member: call, expected: 'accepted', got: error.message };
    }
  }
}

/** The blocks as they are on record are an Anthropic message. */
function messageOf(event: JsonObject, { parseExact, isJsonObject }: ProxyPorts): object {
  const { attributes } = event;
  const text = isJsonObject(attributes) ? attributes['gen_ai.completion'] : undefined;
  const completion = typeof text === 'string' ? parseExact(text) : {};
  const content = isJsonObject(completion) ? completion['content'] : [];
  const blocks = Array.isArray(content) ? (content as readonly Json[]) : [];
  return { role: 'assistant', content: blocks.map((block) => withoutNullId(block, isJsonObject)) };
}

function withoutNullId(block: Json, isJsonObject: ProxyPorts['isJsonObject']): Json {
  if (!isJsonObject(block) || block['id'] !== null) return block;
  const { id: _none, ...rest } = block;
  return rest;
}

function actionOf(
  read: RecordedTurnEvent & { readonly kind: 'action' },
  tools: readonly ProxyTool[],
): ProxyAction | undefined {
  const tool = tools.find(({ name }) => name === read.name);
  const server = read.server ?? tool?.server;
  const timeoutSeconds = timedOutAfter(read);
  const limit = timeoutSeconds === undefined ? {} : { timeoutSeconds };
  if (server !== undefined) return { kind: 'tool', server, name: read.name, arguments: read.input, ...limit };
  const { command } = read.input;
  if (tool === undefined || typeof command !== 'string') return undefined;
  return { kind: 'bash', command, ...limit };
}

/** The time that an action had is told only by what it says when it is over. */
function timedOutAfter({ text }: RecordedTurnEvent & { readonly kind: 'action' }): number | undefined {
  const seconds = Number(/error: the (?:command|tool call) timed out after ([\d.]+)s\s*$/u.exec(text)?.[1]);
  return seconds > 0 ? seconds : undefined;
}

function missingTool({ index }: ReplayedEvent, name: string, tools: readonly ProxyTool[]): Difference {
  return { index, member: 'tools', expected: name, got: tools.map((tool) => tool.name) };
}

function isCutOff({ attributes }: JsonObject): boolean {
  const end = (attributes as JsonObject | undefined)?.['parley.proxy.action.end'];
  return typeof end === 'string' && CUT_OFF.has(end);
}

function isCanceled({ attributes }: JsonObject): boolean {
  const type = (attributes as JsonObject | undefined)?.['error.type'];
  return type === 'canceled' || type === 'cancelled';
}

function textsOf({ content }: JsonObject): readonly string[] {
  const blocks = Array.isArray(content) ? (content as readonly JsonObject[]) : [];
  return blocks.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
}
