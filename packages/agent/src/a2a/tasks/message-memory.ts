import { createHash } from 'node:crypto';
import type { Message } from '@a2a-js/sdk';
import { resolveUserScope, type ServerCallContext } from '@a2a-js/sdk/server';

export interface MessageMemoryOptions {
  readonly now: () => number;
  /** Messages of one caller that are remembered. */
  readonly maxPerCaller: number;
  readonly maxCallers: number;
  readonly keepMs: number;
}

interface Entry<T> {
  readonly value: T;
  readonly until: number;
}

/** Where it is kept what became of one message. */
export interface MessagePlace<T> {
  find(): T | undefined;
  keep(value: T): void;
  /** Unless something else was kept since. */
  forget(value: T): void;
}

/** What became of which message, so that a message that is sent again is not worked on again. */
export class MessageMemory<T> {
  readonly #callers = new Map<string, Map<string, Entry<T>>>();
  readonly #options: MessageMemoryOptions;

  constructor(options: MessageMemoryOptions) {
    this.#options = options;
  }

  /** A message is looked for, kept, and perhaps forgotten: hashing it once is enough. */
  placeOf(message: Message, context: ServerCallContext): MessagePlace<T> {
    const caller = callerOf(context);
    const key = keyOf(message);
    return {
      find: () => this.#find(caller, key),
      keep: (value) => {
        this.#keep(caller, key, value);
      },
      forget: (value) => {
        this.#forget(caller, key, value);
      },
    };
  }

  #find(caller: string, key: string): T | undefined {
    const entry = this.#callers.get(caller)?.get(key);
    return entry === undefined || entry.until <= this.#options.now() ? undefined : entry.value;
  }

  #keep(caller: string, key: string, value: T): void {
    const { now, keepMs, maxPerCaller, maxCallers } = this.#options;
    const entries = this.#callers.get(caller) ?? new Map<string, Entry<T>>();
    // In the order of their last message, so that the first is the one that is forgotten.
    this.#callers.delete(caller);
    this.#callers.set(caller, entries);
    entries.delete(key);
    entries.set(key, { value, until: now() + keepMs });
    forgetFirst(entries, maxPerCaller);
    forgetFirst(this.#callers, maxCallers);
    this.#forgetPast(entries, now());
  }

  #forget(caller: string, key: string, value: T): void {
    const entries = this.#callers.get(caller);
    if (entries?.get(key)?.value === value) entries.delete(key);
  }

  #forgetPast(entries: Map<string, Entry<T>>, now: number): void {
    for (const [key, entry] of entries) {
      if (entry.until > now) return;
      entries.delete(key);
    }
  }
}

function forgetFirst(entries: Map<string, unknown>, max: number): void {
  for (const key of entries.keys()) {
    if (entries.size <= max) return;
    entries.delete(key);
  }
}

function callerOf(context: ServerCallContext): string {
  return `${context.tenant ?? ''}\0${resolveUserScope(context)}`;
}

/**
 * By id and by content: of two clients without a name that both count their messages from one, neither gets the other's
 * answer.
 */
function keyOf(message: Message): string {
  const hash = createHash('sha1');
  const { messageId, taskId, contextId, metadata, parts } = message;
  hash.update(JSON.stringify([messageId, taskId, contextId, metadata ?? null]));
  for (const { content, filename, mediaType } of parts) {
    hash.update(`\0${content?.$case ?? ''}\0${filename}\0${mediaType}\0`);
    if (content === undefined) continue;
    if (content.$case === 'data') hash.update(JSON.stringify([content.value]));
    else hash.update(content.value);
  }
  return hash.digest('base64');
}
