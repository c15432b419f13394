import type { AgentEvent, AgentRunResult } from '@parley/harness';
import type { CliIo } from '../cli-io.js';
import type { OpenSession } from '../sessions/sessions.js';
import { ABORTED_EXIT_CODE, LOST_READER_EXIT_CODE, onStopSignals } from '../stop-signals.js';
import { outcomeOf } from '../ui/describe-result.js';
import { neutralise, neutraliseLine, safeJson } from '../ui/neutralise.js';
import { failureText } from '../ui/render-event.js';
import { OutputWriter } from './output-writer.js';

const SHUTDOWN_MS = 7_000;

/** Works on one task and prints what came of it: the answer, or with `isJson` every event. */
export class PrintRun {
  readonly #io: CliIo;
  readonly #isJson: boolean;
  readonly #out: OutputWriter;
  readonly #err: OutputWriter;
  #session: OpenSession | undefined;
  #stoppedBy: number | undefined;
  readonly #forced = Promise.withResolvers<number>();

  constructor(io: CliIo, isJson: boolean) {
    this.#io = io;
    this.#isJson = isJson;
    this.#out = new OutputWriter(io.stdout, () => this.#stop(LOST_READER_EXIT_CODE));
    this.#err = new OutputWriter(io.stderr);
  }

  /** @returns the exit code: 0 completed, 1 failed, 130 stopped. */
  async run(session: OpenSession, task: string): Promise<number> {
    this.#session = session;
    const endListening = onStopSignals(this.#io.process, (code) => this.#stop(code));
    try {
      for (const notice of session.notices) await this.warn(notice);
      if (this.#stoppedBy !== undefined) return this.#stoppedBy;
      return await Promise.race([this.#work(session, task), this.#forced.promise]);
    } finally {
      await settledWithin(session.agent.shutdown(), this.#forced.promise);
      endListening();
    }
  }

  /** Prints events as they come; a slow reader slows the run. */
  async onEvent(event: AgentEvent): Promise<void> {
    if (this.#isJson) await this.#out.write(`${safeJson(event)}\n`);
    const { payload } = event;
    if (payload.kind === 'tool_completed' && outcomeOf(payload.result) === 'denied') {
      await this.warn(`${payload.toolCall.name} was not run: --allow or --yes let it`);
    }
  }

  /** Says something on the standard error. */
  async warn(message: string): Promise<void> {
    await this.#err.write(`parley: ${neutraliseLine(message)}\n`);
  }

  async #work(session: OpenSession, task: string): Promise<number> {
    const result = await session.agent.run(task);
    if (!this.#isJson && result.output !== null && result.output !== '') {
      await this.#out.write(`${neutralise(result.output).replace(/\n+$/u, '')}\n`);
    }
    if (result.status !== 'completed') await this.warn(`the task was not completed: ${failureText(result)}`);
    return this.#stoppedBy ?? exitCodeOf(result);
  }

  /** The first time the run is aborted; the second time nothing is waited for. */
  #stop(code: number): void {
    if (this.#stoppedBy !== undefined) {
      this.#forced.resolve(this.#stoppedBy);
      return;
    }
    this.#stoppedBy = code;
    this.#session?.agent.abort('interrupted by the user');
  }
}

function exitCodeOf({ status }: AgentRunResult): number {
  if (status === 'completed') return 0;
  return status === 'cancelled' ? ABORTED_EXIT_CODE : 1;
}

async function settledWithin(work: Promise<unknown>, forced: Promise<unknown>): Promise<void> {
  const deadline = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => deadline.resolve(undefined), SHUTDOWN_MS);
  await Promise.race([work.catch(() => undefined), deadline.promise, forced]);
  clearTimeout(timer);
}
