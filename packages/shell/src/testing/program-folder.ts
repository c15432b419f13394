import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startProgram, type StartProgramOptions } from '../start-program.js';
import type { StartedProgram } from '../started-program.js';

/** Starts programs in a folder of their own, into which they write the pids of what they start. */
export class ProgramFolder {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'parley-program-')));
  readonly #started: StartedProgram[] = [];

  /** A shell that runs a text. */
  sh(text: string): Promise<StartedProgram> {
    return this.start({ command: '/bin/sh', args: ['-c', text] });
  }

  node(text: string): Promise<StartedProgram> {
    return this.start({ command: process.execPath, args: ['-e', text] });
  }

  async start(options: Pick<StartProgramOptions, 'command'> & Partial<StartProgramOptions>): Promise<StartedProgram> {
    const env = { PATH: process.env['PATH'] ?? '', NODE: process.execPath };
    const program = await startProgram({ cwd: this.path, env, ...options });
    this.#started.push(program);
    return program;
  }

  /** The pid that a program has written, when it has. */
  async pid(name: string): Promise<number> {
    const file = join(this.path, name);
    while (!existsSync(file) || !readFileSync(file, 'utf8').endsWith('\n')) await delay(5);
    return Number(readFileSync(file, 'utf8'));
  }

  async remove(): Promise<void> {
    await Promise.all(this.#started.map((program) => program.end({ closeMs: 0, termMs: 0 })));
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Everything that a stream still has, as text. */
export async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}
