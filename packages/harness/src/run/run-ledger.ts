import type { ControlInput } from '../control.js';
import { messageOf } from '../errors.js';
import type { RunEvents } from '../events/event-hub.js';
import type { AssistantMessage, Message, SummaryEntry, ToolMessage } from '../messages.js';
import type { AgentRunResult } from '../result.js';
import type { RunOpening, SessionJournal } from '../session/session-journal.js';
import { History } from './history.js';
import { RecordingFailedError } from './run-errors.js';

/**
 * The only way into the history: a message is checked, recorded, and only then remembered. The event about it comes
 * after that, from whoever committed it. So memory never holds what the journal lacks, and nobody hears of what could
 * still be lost. After the journal has failed once nothing is recorded any more.
 */
export class RunLedger {
  #failure: RecordingFailedError | null = null;
  #isOpen = false;

  constructor(
    private readonly history: History,
    private readonly journal: SessionJournal | undefined,
    private readonly events: RunEvents,
  ) {}

  /** Why the journal lacks something; null if it lacks nothing. A run that it lacks cannot end well. */
  get failure(): RecordingFailedError | null {
    return this.#failure;
  }

  /** True once the start of the run is recorded: its end has to be then, too. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Records the start of the run, and its task as a user message.
   *
   * @throws RecordingFailedError, or the reason of the abort that ended the wait for the session.
   */
  async open(opening: Omit<RunOpening, 'sequence'>): Promise<void> {
    try {
      await this.#record((journal, sequence) => journal.beginRun({ ...opening, sequence }));
    } catch (error) {
      opening.signal.throwIfAborted();
      throw error;
    }
    this.#isOpen = true;
    if (opening.task !== null) this.history.append([{ role: 'user', content: opening.task }]);
  }

  async assistant(message: AssistantMessage): Promise<void> {
    this.history.check([message]);
    await this.#record((journal, sequence) => journal.appendAssistant(this.events.runId, sequence, message));
    this.history.append([message]);
  }

  async toolMessages(messages: readonly ToolMessage[]): Promise<void> {
    this.history.check(messages);
    await this.#record((journal, sequence) => journal.appendToolMessages(this.events.runId, sequence, messages));
    this.history.append(messages);
  }

  async steering(control: ControlInput, targetTurn: number): Promise<void> {
    await this.#record((journal, sequence) => journal.applySteering(this.events.runId, sequence, control, targetTurn));
    this.history.append([{ role: 'user', content: control.content }]);
  }

  async compaction(operationId: string, summary: SummaryEntry, messages: readonly Message[]): Promise<void> {
    const shorter = new History(messages);
    await this.#record((journal, sequence) => journal.applyCompaction(sequence, operationId, summary, messages));
    this.history.shortenTo(shorter);
  }

  async close(result: AgentRunResult): Promise<void> {
    await this.#record((journal, sequence) => journal.finishRun(this.events.runId, sequence, result));
  }

  /** Gives results to calls that the journal can no longer record, so that the history can be used all the same. */
  settleUnrecorded(messages: readonly ToolMessage[]): void {
    this.history.append(messages);
  }

  /** Gives the session free if the run could not be recorded to its end. Never rejects. */
  async release(): Promise<void> {
    try {
      await this.journal?.release();
    } catch {
      // The run has failed for want of its journal already: there is nothing to add, and its result must still come.
    }
  }

  async #record(write: (journal: SessionJournal, sequence: number) => Promise<void>): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    if (this.journal === undefined) return;
    try {
      await write(this.journal, this.events.nextSequence);
    } catch (error) {
      this.#failure = new RecordingFailedError(`the session could not be recorded: ${messageOf(error)}`, {
        cause: error,
      });
      throw this.#failure;
    }
  }
}
