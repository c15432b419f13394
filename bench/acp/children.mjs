// Children of the provider `acp` for the benchmark: a mock that does next to nothing, and our own agent.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AcpSubagentProvider } from '@parley/acp';
import { killMarked, MARKER, markedProcesses } from '../../packages/acp/src/testing/marked-processes.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const MOCK = join(root, 'packages/acp/src/testing/mock-acp-server.mjs');
const PARLEY = join(root, 'packages/cli/bin/parley.js');
const SCRIPT = JSON.stringify({ prompts: [[{ text: 'hello' }, { answer: 'end_turn' }]] });

/** Arguments for node. */
export const PROGRAMS = { mock: [MOCK, SCRIPT], 'parley acp': [PARLEY, 'acp', '--offline'] };

const running = new Set();

/** A provider whose children can be counted, in a folder of its own. */
export class Children {
  #folder = mkdtempSync(join(tmpdir(), 'parley-bench-acp-'));
  #mark = randomUUID();
  #provider;

  constructor(program, options = {}) {
    this.#provider = new AcpSubagentProvider({
      command: process.execPath,
      args: PROGRAMS[program],
      cwd: this.#folder,
      env: { HOME: this.#folder, [MARKER]: this.#mark },
      ...options,
    });
    running.add(this);
  }

  get pids() {
    return markedProcesses(this.#mark);
  }

  /** One run: when it said its first word, what became of it, when nothing of it was left. */
  async run() {
    const began = performance.now();
    const run = await this.#provider.start({
      label: 'bench',
      prompt: [{ type: 'text', text: 'hello' }],
      parent: { agentId: 'bench', depth: 0 },
      signal: AbortSignal.timeout(120_000),
    });
    let firstTextMs;
    for await (const { kind } of run.updates) {
      if (kind === 'text') firstTextMs ??= performance.now() - began;
    }
    const { stopReason } = await run.result;
    await run.dispose();
    return { firstTextMs, stopReason, wholeMs: performance.now() - began };
  }

  /** @returns how many processes were left */
  async close() {
    await this.#provider.close();
    const left = this.pids.length;
    killMarked(this.#mark);
    rmSync(this.#folder, { recursive: true, force: true });
    running.delete(this);
    return left;
  }
}

export async function closeAll() {
  await Promise.all([...running].map((children) => children.close()));
}

/** Resident memory of a process, and the part of it that it would give back if it ended, in bytes. */
export function memoryOf(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const bytes = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)[1]) * 1_024;
  return { rss: bytes('Rss'), pss: bytes('Pss') };
}
