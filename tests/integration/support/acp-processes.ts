import { readdirSync, readFileSync } from 'node:fs';
import { MARKER, killMarked, markedProcesses } from '../../../packages/acp/src/testing/marked-processes.mjs';

/** Processes that are found again, wherever they have gone, by a variable that all of them inherit. */
export class AcpProcesses {
  readonly env: Readonly<Record<string, string>>;
  readonly #mark: string;

  constructor(mark: string) {
    this.#mark = mark;
    this.env = { [MARKER]: mark };
  }

  alive(): readonly number[] {
    return markedProcesses(this.#mark);
  }

  /** Ends what a failed test has left. */
  kill(): void {
    killMarked(this.#mark);
  }
}

/** Processes with such a text on their command line: commands of an agent have none of its variables. */
export function processesNaming(text: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name) && commandLine(name).includes(text))
    .map(Number);
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
