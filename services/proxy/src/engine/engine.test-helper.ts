import { silentLogger } from '@parley/service-kit';
import type { CommandRunner, ToolCaller } from '../actions/action-types.js';
import type { BashResult, Fact } from '../domain/facts.js';
import type { FactLog } from '../journal/fact-log.js';
import type { Recorder } from '../record/recorder-types.js';
import { createProxyEngine } from './create-proxy-engine.js';
import type { EngineLimits } from './engine-options.js';
import type { ProxyEngine } from './engine-types.js';

export const TOKEN = 'a-token-of-enough-characters';
export const signal = new AbortController().signal;

export interface Kept {
  readonly stream: string;
  readonly fact: Fact;
}

/** Every fact in the order in which it was written; fails on request, answers late like a disk. */
export class ListLog implements FactLog {
  readonly removed: string[] = [];
  failing = false;

  constructor(readonly kept: Kept[] = []) {}

  async append(stream: string, fact: Fact): Promise<void> {
    await Promise.resolve();
    if (this.failing) throw new Error('disk full');
    this.kept.push({ stream, fact });
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

/** `hold` runs until it is ended; everything else is over at once. */
export class FakeCommands implements CommandRunner {
  readonly isBash = true;
  readonly started: string[] = [];

  start(command: string): ReturnType<CommandRunner['start']> {
    this.started.push(command);
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
    if (command !== 'hold') resolve(result);
    return {
      result: promise,
      end: () => {
        resolve(result);
        return Promise.resolve(command === 'hold' ? 0 : 1);
      },
    };
  }

  async close(): Promise<void> {
    await Promise.resolve();
  }
}

const tools: ToolCaller = {
  openTurn: () => ({
    list: () => Promise.resolve([{ name: 'add', server: 's' }]),
    call: () => Promise.resolve({ result: { kind: 'tool', content: [], isError: false }, attributes: {} }),
    close: () => Promise.resolve(),
  }),
  close: () => Promise.resolve(),
};

export interface Stage {
  readonly engine: ProxyEngine;
  readonly log: ListLog;
  readonly commands: FakeCommands;
  readonly observed: Fact[];
  open(contextId?: string): Promise<string>;
}

let messages = 0;

/** A proxy that was started; claimed too, unless told otherwise. */
export async function stage(
  options: { kept?: Kept[]; limits?: Partial<EngineLimits>; longPollMs?: number; unclaimed?: true } = {},
): Promise<Stage> {
  const log = new ListLog(options.kept);
  const commands = new FakeCommands();
  const observed: Fact[] = [];
  const recorder: Recorder = {
    observe: (fact) => observed.push(fact),
    whole: () => [],
    page: () => {
      throw new Error('not asked');
    },
    close: () => Promise.resolve(),
  };
  const { limits = {}, longPollMs = 20 } = options;
  const engine = createProxyEngine({ log, recorder, commands, tools, logger: silentLogger, limits, longPollMs });
  await engine.start();
  if (options.unclaimed === undefined) await engine.claim(TOKEN);
  const open = async (contextId?: string): Promise<string> => {
    const messageId = `m${(messages += 1)}`;
    const context = contextId === undefined ? {} : { contextId };
    const { taskId } = await engine.submit({ messageId, message: { messageId }, texts: ['hi'], ...context });
    for (let after = 0, tries = 0; tries < 10; tries += 1) {
      const { version, turns } = await engine.next({ token: TOKEN, after, signal });
      if (turns.some((turn) => turn.taskId === taskId)) return taskId;
      after = version;
    }
    throw new Error('its turn did not open');
  };
  return { engine, log, commands, observed, open };
}
