import { randomUUID } from 'node:crypto';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { SubagentRun, SubagentUpdate } from '@parley/harness';
import { AcpSubagentProvider, type AcpSubagentOptions } from '../client/index.js';
import { killMarked, MARKER, markedProcesses } from './marked-processes.mjs';
import type { MockScript } from './mock/script.mjs';
import { faultsIn, MOCK_SERVER, PATIENT, readJournal, requestOf as request } from './run-mode.mjs';

export { request };

export interface JournalEntry {
  readonly event: 'start' | 'in' | 'answered' | 'fault' | 'asked' | 'outcome' | 'note' | 'eof' | 'term' | 'exit';
  readonly pid: number;
  readonly message?: { readonly id?: unknown; readonly method?: string; readonly params?: Record<string, unknown> };
  readonly fault?: string;
  readonly outcome?: unknown;
  readonly note?: string;
  readonly stopReason?: unknown;
}

/** Options without those that say which program runs where. */
type MoreOptions = Partial<Omit<AcpSubagentOptions, 'command' | 'args'>>;

/** After these an agent may be given another prompt. */
const ORDERLY = new Set<unknown>(['end_turn', 'max_tokens', 'refusal']);

/** No event of a mock takes longer, however busy the machine is. */
const EVENT_MS = 15_000;

/** Mocks of one test, what they saw, and the processes that are left of them. */
export class MockAgents {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-acp-mock-')));
  readonly #journal = join(this.folder, 'journal.jsonl');
  readonly #providers: AcpSubagentProvider[] = [];

  /** @param mark by which their processes are known. */
  constructor(readonly mark: string = randomUUID()) {}

  options(script: MockScript, { env, deadlines, ...more }: MoreOptions = {}): AcpSubagentOptions {
    return {
      command: process.execPath,
      args: [MOCK_SERVER, JSON.stringify({ journal: this.#journal, ...script })],
      cwd: this.folder,
      env: { [MARKER]: this.mark, ...env },
      deadlines: { ...PATIENT, ...deadlines },
      ...more,
    };
  }

  provider(script: MockScript, more?: MoreOptions): AcpSubagentProvider {
    const provider = new AcpSubagentProvider(this.options(script, more));
    this.#providers.push(provider);
    return provider;
  }

  /** A run of a provider of its own. */
  start(script: MockScript, more?: MoreOptions, signal?: AbortSignal): Promise<SubagentRun> {
    return this.provider(script, more).start(request(signal));
  }

  /** Processes of the mocks and of whatever they started. */
  live(): number[] {
    return markedProcesses(this.mark);
  }

  /** Mocks that live and have answered all their prompts in good order: what a pool may keep. */
  idle(): number[] {
    return this.live().filter((pid) => {
      const ofMock = this.journal().filter((entry) => entry.pid === pid);
      const prompts = ofMock.filter(({ message }) => message?.method === 'session/prompt').length;
      const answers = ofMock.filter(({ stopReason }) => ORDERLY.has(stopReason)).length;
      return prompts > 0 && answers === prompts;
    });
  }

  journal(): readonly JournalEntry[] {
    return readJournal(this.#journal) as readonly JournalEntry[];
  }

  /** What was done so often, by any of the mocks. */
  count(event: JournalEntry['event']): number {
    return this.journal().filter((entry) => entry.event === event).length;
  }

  /** Methods of the requests and notifications that the mocks got, in order. */
  methods(): string[] {
    return this.journal().flatMap(({ message }) => message?.method ?? []);
  }

  outcomes(): unknown[] {
    return this.journal().flatMap(({ event, outcome }) => (event === 'outcome' ? [outcome] : []));
  }

  /** What the provider wrote against the protocol, and questions of the mocks that it never answered. */
  faults(): string[] {
    return faultsIn(this.journal());
  }

  /** Resolves when the journal fits. */
  async until(isSo: (agents: this) => boolean): Promise<void> {
    const giveUpAt = performance.now() + EVENT_MS;
    while (!isSo(this)) {
      if (performance.now() > giveUpAt) throw new Error(`it never came: ${JSON.stringify(this.journal())}`);
      await delay(5);
    }
  }

  /** Until a mock has got a message with this method, so often. */
  got(method: string, times = 1): Promise<void> {
    return this.until((agents) => agents.methods().filter((one) => one === method).length >= times);
  }

  /** Makes an empty file in their folder. */
  touch(name: string): void {
    writeFileSync(join(this.folder, name), '');
  }

  /** Closes the providers; says which processes were left then, and ends those. */
  async close(): Promise<number[]> {
    await Promise.all(this.#providers.map((provider) => provider.close()));
    const left = this.live();
    killMarked(this.mark);
    this.removeFolder();
    return left;
  }

  removeFolder(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Reads the updates until one is text, and goes on reading so that none is lost for the child. */
export async function firstText({ updates }: SubagentRun): Promise<void> {
  for await (const { kind } of updates) if (kind === 'text') return;
  throw new Error('the child said nothing');
}

export async function allUpdates({ updates }: SubagentRun): Promise<SubagentUpdate[]> {
  const all: SubagentUpdate[] = [];
  for await (const update of updates) all.push(update);
  return all;
}
