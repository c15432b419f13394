import type { Message, ToolCall } from '../messages.js';
import { HistoryError } from './run-errors.js';

const NO_CALLS: readonly ToolCall[] = [];

/**
 * The messages of an agent, without its system prompt, and the rule that every provider checks: each call id is
 * unique and has exactly one result, in source order, before anything else is said. The rule is kept message by
 * message, so that a commit costs the same in a long history as in a short one.
 */
export class History {
  #messages: Message[] = [];
  #callIds = new Set<string>();
  /** Calls of the last assistant message, in source order; those from `#nextOpen` on have no result yet. */
  #lastCalls: readonly ToolCall[] = NO_CALLS;
  #nextOpen = 0;

  /** @throws HistoryError if the messages break the rule. */
  constructor(messages: readonly Message[] = []) {
    this.append(messages);
    const open = this.#lastCalls[this.#nextOpen];
    if (open !== undefined) throw new HistoryError(`the call '${open.id}' has no result`);
  }

  /** The live list: grows with the run, is never changed otherwise. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  get length(): number {
    return this.#messages.length;
  }

  get hasOpenCalls(): boolean {
    return this.#nextOpen < this.#lastCalls.length;
  }

  /** Calls that still lack a result, in source order. */
  get openCalls(): readonly ToolCall[] {
    return this.#lastCalls.slice(this.#nextOpen);
  }

  /** The text of the newest user message. */
  get newestUserText(): string {
    return this.#messages.findLast((message) => message.role === 'user')?.content ?? '';
  }

  hasCallId(id: string): boolean {
    return this.#callIds.has(id);
  }

  /** A copy that no later change reaches. */
  snapshot(): readonly Message[] {
    return this.#messages.slice();
  }

  /** @throws HistoryError if `next` must not come now. */
  check(next: readonly Message[]): void {
    let calls = this.#lastCalls;
    let open = this.#nextOpen;
    const newIds = new Set<string>();
    for (const message of next) {
      const expected = calls[open];
      if (message.role === 'tool') {
        checkResult(message.toolCallId, expected);
        open += 1;
        continue;
      }
      if (expected !== undefined) throw new HistoryError(`the call '${expected.id}' has no result`);
      if (message.role === 'assistant') {
        this.#checkCallIds(message.toolCalls, newIds);
        calls = message.toolCalls;
        open = 0;
      }
    }
  }

  /** @throws HistoryError as {@link check} does; nothing has changed then. */
  append(messages: readonly Message[]): void {
    this.check(messages);
    for (const message of messages) this.#add(message);
  }

  /** Takes over another history and forgets this one. */
  become(other: History): void {
    this.#callIds = other.#callIds;
    this.shortenTo(other);
  }

  /**
   * Takes over what a compaction left of this history. The ids of calls that are no longer in it stay taken: whoever
   * reads the events or the journal would mistake a new call for the older one.
   */
  shortenTo(other: History): void {
    this.#messages = other.#messages;
    this.#lastCalls = NO_CALLS;
    this.#nextOpen = 0;
  }

  #add(message: Message): void {
    this.#messages.push(message);
    if (message.role === 'tool') {
      this.#nextOpen += 1;
    } else if (message.role === 'assistant') {
      for (const call of message.toolCalls) this.#callIds.add(call.id);
      this.#lastCalls = message.toolCalls;
      this.#nextOpen = 0;
    }
  }

  #checkCallIds(calls: readonly ToolCall[], newIds: Set<string>): void {
    for (const { id } of calls) {
      if (id === '') throw new HistoryError('a call has an empty id');
      if (newIds.has(id) || this.#callIds.has(id)) throw new HistoryError(`the call id '${id}' is there twice`);
      newIds.add(id);
    }
  }
}

function checkResult(id: string, expected: ToolCall | undefined): void {
  if (expected === undefined) throw new HistoryError(`the result of '${id}' belongs to no call`);
  if (expected.id !== id) throw new HistoryError(`the result of '${id}' comes before that of '${expected.id}'`);
}
