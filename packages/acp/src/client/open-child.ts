import { quietLogger } from '@parley/harness';
import { startChild, type ChildProgram } from '../child/index.js';
import { childStream, type ChildStream } from '../wire/index.js';
import type { AcpChild } from './acp-child.js';
import type { AcpDeadlines } from './acp-deadlines.js';
import type { AcpSubagentOptions } from './acp-options.js';

/**
 * Starts the program of the options, with the protocol on its pipes.
 *
 * @throws HarnessError if it cannot be started.
 */
export async function openChild(
  options: AcpSubagentOptions,
  deadlines: AcpDeadlines,
  signal: AbortSignal,
): Promise<AcpChild> {
  const { maxMessageBytes, maxGarbageLines, record, logger = quietLogger } = options;
  const program = await startChild({ ...options, signal });
  const stream = childStream(program.stdout, program.stdin, {
    maxMessageBytes,
    maxGarbageLines,
    record,
    safeText: program.safeText,
    onGarbage: ({ kind, text, count }) => {
      logger.warn('a subagent wrote a line to its stdout that is no message', { pid: program.pid, kind, text, count });
    },
  });
  return new ProgramChild(program, stream, deadlines);
}

class ProgramChild implements AcpChild {
  readonly exited: Promise<unknown>;
  readonly safeText: (text: string) => string;

  constructor(
    private readonly program: ChildProgram,
    readonly stream: ChildStream,
    private readonly deadlines: AcpDeadlines,
  ) {
    this.exited = program.exited;
    this.safeText = program.safeText;
  }

  get exit(): AcpChild['exit'] {
    return this.program.exit;
  }

  get garbageLines(): number {
    return this.stream.garbageLines;
  }

  allowGarbageAgain(): void {
    this.stream.allowGarbageAgain();
  }

  describeExit(): string {
    return this.program.describeExit();
  }

  end(atOnce: boolean): Promise<unknown> {
    const { closeMs, termMs } = this.deadlines;
    return this.program.end({ closeMs: atOnce ? 0 : closeMs, termMs });
  }
}
