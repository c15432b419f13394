import type { Message } from '../messages.js';
import { historyOf } from './session-history.js';
import type { SessionMutation } from './session-mutation.js';
import type { AppliedCompaction, SessionEntry, SessionRecord, SessionRun, StoredSession } from './session-types.js';

/** Adds records up to a session, one after the other: what is there already is never gone through again. */
export class SessionProjection {
  #entries: SessionEntry[] = [];
  #messages: Message[] = [];
  #runs: SessionRun[] = [];
  #compactions: AppliedCompaction[] = [];

  apply(mutation: SessionMutation, sequence: number): void {
    switch (mutation.kind) {
      case 'branch':
        return;
      case 'checkpoint':
        this.#entries = [...mutation.content.entries];
        this.#runs = [...mutation.content.runs];
        this.#compactions = [...mutation.content.compactions];
        this.#messages = historyOf(this.#entries, this.#compactions.at(-1));
        return;
      case 'run_start':
        this.#startRun(mutation.runId, mutation.task, sequence);
        return;
      case 'messages':
        this.#addMessages(mutation.runId, mutation.messages, sequence);
        return;
      case 'compaction': {
        const { operationId, summary, messages } = mutation;
        this.#compactions.push({ operationId, sequence, summary, messages, coveredEntryCount: this.#entries.length });
        this.#messages = [...messages];
        return;
      }
      case 'run_finish': {
        const index = this.#runs.findLastIndex(({ runId }) => runId === mutation.runId);
        const run = this.#runs[index];
        if (run === undefined) return;
        this.#runs[index] = { ...run, finishSequence: sequence, finished: true, result: mutation.result };
      }
    }
  }

  /** What it has come to; later records do not change what was given out. */
  snapshot(sessionId: string, agentId: string | null, head: SessionRecord): StoredSession {
    return {
      sessionId,
      agentId,
      branchId: head.branchId,
      messages: [...this.#messages],
      entries: [...this.#entries],
      runs: [...this.#runs],
      compactions: [...this.#compactions],
      revision: head.revision,
      headId: head.recordId,
    };
  }

  #startRun(runId: string, task: string | null, sequence: number): void {
    this.#runs.push({
      runId,
      intent: task === null ? 'continue' : 'task',
      task,
      startSequence: sequence,
      finishSequence: null,
      finished: false,
      result: null,
    });
    if (task !== null) this.#addMessages(runId, [{ role: 'user', content: task }], sequence);
  }

  #addMessages(runId: string, messages: readonly Message[], sequence: number): void {
    for (const message of messages) {
      this.#entries.push({ runId, sequence, message });
      this.#messages.push(message);
    }
  }
}
