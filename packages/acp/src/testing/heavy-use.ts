// A program that runs many children, all at once or one after the other, and says as one line of JSON what became of them
// and what it still holds. A program of its own: in a test runner nobody hears the warnings of a process.
import { getEventListeners } from 'node:events';
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { SubagentRun } from '@parley/harness';
import { AcpSubagentProvider } from '../client/index.js';
import { firstText, MockAgents, request } from './mock-agents.js';
import { KINDS, type RunKind } from './run-kinds.js';

/** What a process holds of the system, and who listens on it. */
export interface Held {
  readonly descriptors: number;
  readonly resources: Readonly<Record<string, number>>;
  readonly processListeners: Readonly<Record<string, number>>;
}

export interface HeavyUseReport {
  readonly outcomes: readonly string[];
  readonly outputs: readonly string[];
  /** Of all children together, when all had their prompt. */
  readonly mostAlive: number;
  readonly alive: number;
  readonly signalListeners: number;
  readonly before: Held;
  readonly after: Held;
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
  readonly unhandled: readonly string[];
}

const LONG = { initializeMs: 60_000, newSessionMs: 60_000, idleMs: 60_000, promptMs: 60_000 };
const SHORT_END = { closeMs: 100, termMs: 100 };
const ALL_AT_ONCE = { prompts: [[{ text: 'hi' }, { untilFile: 'go' }, { say: 'pid' }, { answer: 'end_turn' }]] };

const warnings: string[] = [];
const unhandled: string[] = [];
const outputs: string[] = [];
let mostAlive = 0;
process.on('warning', ({ message }) => void warnings.push(message));
process.on('unhandledRejection', (error) => void unhandled.push(String(error)));
process.on('uncaughtExceptionMonitor', (error) => void unhandled.push(String(error)));

const [use = '', count = '1', atOnce = '1'] = process.argv.slice(2);
const agents = new MockAgents();
const { signal } = new AbortController();

// The first ones open what stays open: whatever is loaded late.
await eachKind(KINDS.length, 2);
const before = await held();
const outcomes = use === 'each-kind' ? await eachKind(Number(count), Number(atOnce)) : await allAtOnce(Number(count));
const alive = agents.live().length;
// What has ended is given back a few rounds later.
for (let i = 0; i < 100 && !isEqual(await held(), before); i += 1) await delay(20);
const after = await held();
const signalListeners = getEventListeners(signal, 'abort').length;
const faults = agents.faults();
await agents.close();
const report: HeavyUseReport = {
  ...{ outcomes, outputs, mostAlive, alive, signalListeners, before, after, faults, warnings, unhandled },
};
process.stdout.write(`${JSON.stringify(report)}\n`);

async function allAtOnce(children: number): Promise<string[]> {
  const provider = new AcpSubagentProvider(agents.options(ALL_AT_ONCE, { deadlines: LONG }));
  const runs = await Promise.all(Array.from({ length: children }, () => provider.start(request(signal))));
  mostAlive = agents.live().length;
  agents.touch('go');
  const results = await Promise.all(runs.map(({ result }) => result));
  await Promise.all(runs.map((run) => run.dispose()));
  await provider.close();
  outputs.push(...results.map(({ output }) => output));
  return results.map(({ stopReason }) => stopReason);
}

/** A few at a time; what each came to, in the order of their numbers. */
async function eachKind(runs: number, together: number): Promise<string[]> {
  const came: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < runs; index = next++) came[index] = await runOne(KINDS[index % KINDS.length]);
  };
  await Promise.all(Array.from({ length: together }, work));
  return came;
}

async function runOne({ script, isCancelled = false }: RunKind = KINDS[0]): Promise<string> {
  const provider = new AcpSubagentProvider(agents.options(script, { deadlines: SHORT_END }));
  const run = await provider.start(request(signal)).catch(() => undefined);
  const stopReason = run === undefined ? 'not started' : await follow(run, isCancelled);
  await provider.close();
  return stopReason;
}

async function follow(run: SubagentRun, isCancelled: boolean): Promise<string> {
  if (isCancelled) {
    await firstText(run);
    run.cancel();
  }
  const { stopReason } = await run.result;
  await run.dispose();
  return stopReason;
}

async function held(): Promise<Held> {
  await new Promise(setImmediate);
  const resources: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
  const names = process.eventNames().map(String);
  const processListeners = Object.fromEntries(names.map((name) => [name, process.listenerCount(name)]));
  return { descriptors: readdirSync('/proc/self/fd').length, resources, processListeners };
}

function isEqual(a: Held, b: Held): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
