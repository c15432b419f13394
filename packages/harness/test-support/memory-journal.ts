import type { ControlInput } from '../src/control.js';
import type { AssistantMessage, Message, SummaryEntry, ToolMessage } from '../src/messages.js';
import type { AgentRunResult } from '../src/result.js';
import { SessionConflictError } from '../src/session/session-errors.js';
import type { RunOpening, SessionJournal } from '../src/session/session-journal.js';

export interface JournalEntry {
  readonly method: keyof SessionJournal;
  readonly sequence: number;
  readonly data: unknown;
}

/** A journal in memory that writes down what it is told, and fails where it is told to. */
export class MemoryJournal implements SessionJournal {
  readonly sessionId = 'session-1';
  readonly branchId = 'main';
  readonly entries: JournalEntry[] = [];
  /** How many methods were called, failed ones included. */
  calls = 0;
  releases = 0;
  /** The history that the records add up to. */
  messages: Message[] = [];
  result: AgentRunResult | null = null;
  #unfinished = false;

  /** `failAt`: throws what it gives; called with the number of the call, from 1. */
  constructor(
    private readonly failAt: (call: number, method: string) => Error | null | Promise<Error | null> = () => null,
  ) {}

  async beginRun(run: RunOpening): Promise<void> {
    if (this.#unfinished) throw new SessionConflictError('the session has an unfinished run');
    await this.#record('beginRun', run.sequence, { runId: run.runId, intent: run.intent, task: run.task });
    this.#unfinished = true;
    if (run.task !== null) this.messages.push({ role: 'user', content: run.task });
  }

  async appendAssistant(_runId: string, sequence: number, message: AssistantMessage): Promise<void> {
    await this.#record('appendAssistant', sequence, message);
    this.messages.push(message);
  }

  async appendToolMessages(_runId: string, sequence: number, messages: readonly ToolMessage[]): Promise<void> {
    await this.#record('appendToolMessages', sequence, messages);
    this.messages.push(...messages);
  }

  async applySteering(_runId: string, sequence: number, control: ControlInput, targetTurn: number): Promise<void> {
    await this.#record('applySteering', sequence, { control, targetTurn });
    this.messages.push({ role: 'user', content: control.content });
  }

  async applyCompaction(
    sequence: number,
    operationId: string,
    summary: SummaryEntry,
    messages: readonly Message[],
  ): Promise<void> {
    await this.#record('applyCompaction', sequence, { operationId, summary });
    this.messages = [...messages];
  }

  async finishRun(_runId: string, sequence: number, result: AgentRunResult): Promise<void> {
    await this.#record('finishRun', sequence, result);
    this.result = result;
    this.#unfinished = false;
  }

  release(): Promise<void> {
    this.releases += 1;
    return Promise.resolve();
  }

  async #record(method: keyof SessionJournal, sequence: number, data: unknown): Promise<void> {
    this.calls += 1;
    const error = await this.failAt(this.calls, method);
    if (error !== null) throw error;
    this.entries.push({ method, sequence, data });
  }
}
