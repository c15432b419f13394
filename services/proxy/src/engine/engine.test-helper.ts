import { silentLogger } from '@parley/service-kit';
import type { CommandRunner, OutputChunk, ToolCaller, TurnTools } from '../actions/action-types.js';
import type { BashResult, EnvServer, Fact, JsonObject, Refusal } from '../domain/facts.js';
import type { FactLog } from '../journal/fact-log.js';
import type { Recorder } from '../record/recorder-types.js';
import { createProxyEngine } from './create-proxy-engine.js';
import type { EngineLimits } from './engine-options.js';
import type { ProxyEngine, SubmitMessage } from './engine-types.js';

export const TOKEN = 'a-token-of-enough-characters';
export const signal = new AbortController().signal;
/** What a driver says with every call. */
export const asked = { token: TOKEN, signal };
export const recorded = { ...asked, model: null, usage: null };
export const bash = (command: string) => ({ kind: 'bash', command }) as const;
export const tool = (name: string, args: JsonObject = {}) =>
  ({ kind: 'tool', server: 's', name, arguments: args }) as const;
/** A model's message that calls bash. */
export const calling = (command: string) => ({
  content: [{ type: 'tool_use', id: 'c', name: 'bash', input: { command } }],
});
export const statusOf = (outcome: PromiseSettledResult<unknown>): unknown =>
  outcome.status === 'fulfilled' ? 200 : (outcome.reason as Refusal).status;

const UNTIL_MS = 4000;

/** Looks again and again, a turn of the event loop between; throws when it does not come true in time. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + UNTIL_MS; !(await isTrue()); await new Promise(setImmediate)) {
    if (performance.now() > deadline) throw new Error('it did not come true in time');
  }
}

export interface Kept {
  readonly stream: string;
  readonly fact: Fact;
}

/** Every fact in the order in which it was written; fails on request, answers late like a disk. */
export class ListLog implements FactLog {
  readonly removed: string[] = [];
  /** `late`: what it refuses is written all the same. */
  failing: boolean | 'late' = false;
  /** Which facts fail; default all. */
  fails: (fact: Fact) => boolean = () => true;
  /** Told of each fact before it is written; waited for. */
  before: (fact: Fact) => Promise<void> | void = () => undefined;

  constructor(readonly kept: Kept[] = []) {}

  async append(stream: string, fact: Fact): Promise<void> {
    await Promise.resolve();
    await this.before(fact);
    const isRefused = this.failing !== false && this.fails(fact);
    if (!isRefused || this.failing === 'late') this.kept.push({ stream, fact });
    if (isRefused) throw new Error('disk full');
  }

  async *load(): AsyncGenerator<{ stream: string; facts: readonly Fact[] }> {
    await Promise.resolve();
    const streams = Map.groupBy(this.kept, ({ stream }) => stream);
    for (const [stream, kept] of streams) yield { stream, facts: kept.map(({ fact }) => fact) };
  }

  async remove(stream: string): Promise<void> {
    await Promise.resolve();
    this.removed.push(stream);
    for (let at = this.kept.length - 1; at >= 0; at -= 1) if (this.kept[at]?.stream === stream) this.kept.splice(at, 1);
  }

  async close(): Promise<void> {
    await Promise.resolve();
  }
}

/** `hold` runs until it is ended, `stuck` for ever; everything else is over at once. */
export class FakeCommands implements CommandRunner {
  readonly isBash = true;
  readonly started: string[] = [];
  readonly endAsked: string[] = [];
  closedWithin: number | undefined;
  /** Of the command that was started last. */
  write: (chunk: OutputChunk) => void = () => undefined;
  /** Ends the command that was started last, as if by itself. */
  finish: () => void = () => undefined;

  start(command: string, options: Parameters<CommandRunner['start']>[1]): ReturnType<CommandRunner['start']> {
    this.started.push(command);
    this.write = (chunk) => options.onChunk?.(chunk);
    const result: BashResult = {
      kind: 'bash',
      exitCode: 0,
      stdout: command,
      stderr: '',
      timedOut: false,
      stdoutBytes: command.length,
      stderrBytes: 0,
      truncated: false,
    };
    const { promise, resolve } = Promise.withResolvers<BashResult>();
    this.finish = () => resolve(result);
    if (command !== 'hold' && command !== 'stuck') resolve(result);
    return {
      result: promise,
      end: () => {
        this.endAsked.push(command);
        if (command !== 'stuck') resolve(result);
        return Promise.resolve(command === 'hold' ? 0 : 1);
      },
    };
  }

  async close(graceMs: number): Promise<void> {
    this.closedWithin = graceMs;
    await Promise.resolve();
  }
}

/** One server `s` with a tool `add`; a call of `hold` runs until it is aborted. */
export class FakeTools implements ToolCaller {
  readonly opened: (readonly EnvServer[])[] = [];
  readonly called: string[] = [];
  closedTurns = 0;
  isClosed = false;
  list: TurnTools['list'] = () => Promise.resolve([{ name: 'add', server: 's' }]);

  openTurn(servers: readonly EnvServer[]): TurnTools {
    this.opened.push(servers);
    return {
      list: (ends) => this.list(ends),
      call: async ({ name, signal: ends }) => {
        this.called.push(name);
        if (name === 'hold') await new Promise((resolve) => ends.addEventListener('abort', resolve));
        return { result: { kind: 'tool', content: [], isError: false }, attributes: {} };
      },
      close: async () => {
        this.closedTurns += 1;
        await Promise.resolve();
      },
    };
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.resolve();
  }
}

export interface Stage {
  readonly engine: ProxyEngine;
  readonly log: ListLog;
  readonly commands: FakeCommands;
  readonly tools: FakeTools;
  /** What the recorder was told, in order; `replayed` of them came from an earlier life. */
  readonly observed: Fact[];
  readonly replayed: Fact[];
  /** Sends a message of its own. */
  send(message?: Partial<SubmitMessage>): Promise<string>;
  /** Sends one, and waits until its turn is open. */
  open(contextId?: string): Promise<string>;
}

export interface StageOptions {
  readonly kept?: Kept[];
  readonly limits?: Partial<EngineLimits>;
  readonly longPollMs?: number;
  readonly unclaimed?: true;
  readonly shell?: false;
}

let messages = 0;

/** A proxy that was started; claimed too, unless told otherwise. */
export async function stage(options: StageOptions = {}): Promise<Stage> {
  const log = new ListLog(options.kept);
  const commands = new FakeCommands();
  const tools = new FakeTools();
  const observed: Fact[] = [];
  const replayed: Fact[] = [];
  const recorder: Recorder = {
    observe: (fact, told) => {
      observed.push(fact);
      if (told?.replayed === true) replayed.push(fact);
    },
    whole: () => [],
    page: () => {
      throw new Error('not asked');
    },
    close: () => Promise.resolve(),
  };
  const { limits = {}, longPollMs = 20, shell } = options;
  const logger = silentLogger;
  const shells = shell === false ? undefined : commands;
  const engine = createProxyEngine({ log, recorder, commands: shells, tools, logger, limits, longPollMs });
  await engine.start();
  if (options.unclaimed === undefined) await engine.claim(TOKEN);
  const send = async (message: Partial<SubmitMessage> = {}): Promise<string> => {
    const messageId = `m${(messages += 1)}`;
    const { taskId } = await engine.submit({ messageId, message: { messageId }, texts: ['hi'], ...message });
    return taskId;
  };
  const open = async (contextId?: string): Promise<string> => {
    const taskId = await send(contextId === undefined ? {} : { contextId });
    const { turns } = await engine.next({ ...asked, after: 0 });
    if (turns.some((turn) => turn.taskId === taskId)) return taskId;
    await engine.opened(taskId, AbortSignal.timeout(5000));
    return taskId;
  };
  return { engine, log, commands, tools, observed, replayed, send, open };
}
