import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../json/index.js';
import { A2aRefused, isPassing, ProxyFailed, ProxyMisread } from './client-errors.js';
import { pause, ProxyHttp, type ProxyHttpOptions, readJson } from './proxy-http.js';
import { sentenceOf } from './sentence-of.js';

const CALL_MS = 60_000;
const POLL_MS = 1_000;
/** Nobody answers for so long: the agent is gone. */
const SILENCE_MS = 60_000;
const ENDED = new Set(['completed', 'failed', 'canceled', 'rejected']);

/** A task as its sender sees it. */
export interface SentTask {
  readonly id: string;
  readonly contextId: string;
  /** `submitted`, `working`, `completed`, `failed`, `canceled`. */
  readonly state: string;
  readonly hasEnded: boolean;
  /** The text parts of its answer, or of the error, in order. */
  readonly texts: readonly string[];
  /** The data parts. */
  readonly data: readonly JsonObject[];
}

export interface SendOptions {
  /** The conversation that it goes on with; default a new one. */
  readonly contextId?: string | undefined;
  readonly messageId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const part = z.object({ kind: z.string(), text: z.string().nullish(), data: z.custom<JsonObject>().nullish() });
const task = z
  .object({
    id: z.string(),
    contextId: z.string(),
    status: z.object({ state: z.string(), message: z.object({ parts: z.array(part) }).nullish() }),
  })
  .transform(({ id, contextId, status }): SentTask => {
    const parts = status.message?.parts ?? [];
    return {
      id,
      contextId,
      state: status.state,
      hasEnded: ENDED.has(status.state),
      texts: parts.flatMap(({ kind, text }) => (kind === 'text' && typeof text === 'string' ? [text] : [])),
      data: parts.flatMap(({ kind, data }) => (kind === 'data' && data !== null && data !== undefined ? [data] : [])),
    };
  });
const answer = z.object({
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).nullish(),
});

/**
 * The sender's side of a proxy: protocol 0.3 of A2A over JSON-RPC, as `/a2a` speaks it.
 *
 * Every call throws A2aRefused for an error of the protocol, ProxyFailed, ProxyUnreachable, ProxyMisread, and the reason
 * of its signal.
 */
export class A2aSender {
  readonly #http: ProxyHttp;

  /** @throws TypeError for an address that is none. */
  constructor(options: ProxyHttpOptions) {
    this.#http = new ProxyHttp(options);
  }

  /** Sends a message and does not wait for its end. Made only once: a second try would be a second task. */
  async send(texts: string | readonly string[], options: SendOptions = {}): Promise<SentTask> {
    const message = {
      kind: 'message',
      role: 'user',
      messageId: options.messageId ?? randomUUID(),
      ...(options.contextId !== undefined && { contextId: options.contextId }),
      parts: [texts].flat().map((text) => ({ kind: 'text', text })),
    };
    const params = { message, configuration: { blocking: false } };
    return this.#rpc('message/send', params, { signal: options.signal, isOnce: true });
  }

  async get(taskId: string, { signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<SentTask> {
    return this.#rpc('tasks/get', { id: taskId }, { signal });
  }

  /** @throws A2aRefused -32002 if it has ended. */
  async cancel(taskId: string, { signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<SentTask> {
    return this.#rpc('tasks/cancel', { id: taskId }, { signal });
  }

  /**
   * Asks until the task has ended. Time alone ends it only through the signal.
   *
   * @throws ProxyUnreachable after a minute without any answer.
   */
  async ended(
    taskId: string,
    {
      signal,
      pollMs = POLL_MS,
    }: { readonly signal?: AbortSignal | undefined; readonly pollMs?: number | undefined } = {},
  ): Promise<SentTask> {
    let heardAt = performance.now();
    for (;;) {
      try {
        const now = await this.get(taskId, { signal });
        if (now.hasEnded) return now;
        heardAt = performance.now();
      } catch (error) {
        if (!isPassing(error) || performance.now() - heardAt > SILENCE_MS) throw error;
      }
      await pause(pollMs, signal);
    }
  }

  async close(): Promise<void> {
    await this.#http.close();
  }

  async #rpc(
    method: string,
    params: object,
    options: { readonly signal?: AbortSignal | undefined; readonly isOnce?: true },
  ): Promise<SentTask> {
    const body = { jsonrpc: '2.0', id: randomUUID(), method, params };
    const { status, text } = await this.#http.call({ path: '/a2a', body, limitMs: CALL_MS, ...options });
    if (status !== 200) throw new ProxyFailed(status, sentenceOf(status, text));
    const read = answer.safeParse(readJson(text));
    if (!read.success) throw new ProxyMisread('the answer is none of JSON-RPC');
    const { result, error } = read.data;
    if (error !== null && error !== undefined) throw new A2aRefused(error.code, error.message);
    const parsed = task.safeParse(result);
    if (!parsed.success) throw new ProxyMisread(`not how an agent answers ${method}`);
    return parsed.data;
  }
}
