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

/** What became of which message, so that a message that is sent again is not worked on again. */
export class MessageMemory<T> {
  readonly #callers = new Map<string, Map<string, Entry<T>>>();
  /** A message is looked for and then kept: hashing it once is enough. */
  readonly #keys = new WeakMap<Message, string>();
  readonly #options: MessageMemoryOptions;

  constructor(options: MessageMemoryOptions) {
    this.#options = options;
  }

  find(message: Message, context: ServerCallContext): T | undefined {
    const entry = this.#callers.get(callerOf(context))?.get(this.#keyOf(message));
    return entry === undefined || entry.until <= this.#options.now() ? undefined : entry.value;
  }

  keep(message: Message, context: ServerCallContext, value: T): void {
    const { now, keepMs, maxPerCaller, maxCallers } = this.#options;
    const caller = callerOf(context);
    const entries = this.#callers.get(caller) ?? new Map<string, Entry<T>>();
    // In the order of their last message, so that the first is the one that is forgotten.
    this.#callers.delete(caller);
    this.#callers.set(caller, entries);
    const key = this.#keyOf(message);
    entries.delete(key);
    entries.set(key, { value, until: now() + keepMs });
    forgetFirst(entries, maxPerCaller);
    forgetFirst(this.#callers, maxCallers);
    this.#forgetPast(entries, now());
  }

  forget(message: Message, context: ServerCallContext, value: T): void {
    const entries = this.#callers.get(callerOf(context));
    const key = this.#keyOf(message);
    if (entries?.get(key)?.value === value) entries.delete(key);
  }

  #keyOf(message: Message): string {
    const known = this.#keys.get(message);
    if (known !== undefined) return known;
    const key = keyOf(message);
    this.#keys.set(message, key);
    return key;
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
