import {
  MARKER,
  killMarked,
  markedProcesses,
  processesWith,
  procFields,
} from '../../../packages/acp/src/testing/marked-processes.mjs';

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
  return processesWith((pid) => procFields(pid, 'cmdline').join(' ').includes(text));
}
