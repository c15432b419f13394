import { randomUUID } from 'node:crypto';
import type { OpenAI } from 'openai';
import { messageOf } from '../errors.js';
import { quietLogger } from '../logger.js';
import { abortable, stopIfAborted } from './abortable.js';
import { withBoundedErrors } from './bounded-fetch.js';
import { type Packet, readChatStream } from './chat-stream.js';
import { CompletionAssembler } from './completion-assembler.js';
import type { ModelAdapter, ModelRequest, ModelStreamEvent } from './model-adapter.js';
import { ModelProviderError } from './model-errors.js';
import {
  type OpenAiAdapterOptions,
  type OpenAiConfig,
  type ResolvedOpenAiConfig,
  resolveOpenAiConfig,
} from './openai-config.js';
import { type ProviderFailure, toModelError } from './provider-failure.js';
import { RequestAttempt } from './request-attempt.js';
import { retryDelay, waitFor } from './retry-rule.js';
import { withoutSecrets } from './secret.js';
import { type OpenAiLibrary, readStatusFailure, toConnectionError } from './transport-failure.js';
import { toWireRequest } from './wire-request.js';

type WireRequest = ReturnType<typeof toWireRequest>;

interface OpenedLibrary {
  readonly library: OpenAiLibrary;
  readonly client: OpenAI;
}

/** Once the reason of the end is known, how long usage and end marker may take, in milliseconds. */
const TRAILER_MS = 5_000;

/** The library's own limit is never to be the first: the attempt's clock also watches the body of a failure. */
const NO_LIMIT_MS = 2 ** 31 - 1;

/**
 * A model behind the chat-completions protocol, streamed. Requests that fail before they showed anything are sent
 * again by the rule of {@link OpenAiConfig.maxRetries}; an answer that breaks off is a failure, never a completion.
 */
export class OpenAiModelAdapter implements ModelAdapter {
  readonly name: string;
  // Private to the runtime as well, so that no dump of the adapter shows the key.
  readonly #config: ResolvedOpenAiConfig;
  readonly #options: Required<OpenAiAdapterOptions>;
  readonly #secrets: readonly string[];
  #opened: Promise<OpenedLibrary> | undefined;

  /** @throws ModelConfigError */
  constructor(config: OpenAiConfig, options: OpenAiAdapterOptions = {}) {
    this.#config = resolveOpenAiConfig(config);
    this.name = this.#config.model;
    this.#secrets = [this.#config.apiKey.reveal(), ...Object.values(this.#config.headers)];
    this.#options = {
      logger: options.logger ?? quietLogger,
      now: options.now ?? Date.now,
      random: options.random ?? Math.random,
      wait: options.wait ?? waitFor,
      newId: options.newId ?? (() => `call_${randomUUID().replaceAll('-', '')}`),
      fetch: options.fetch ?? fetch,
    };
  }

  /** Loads the client library, which takes about a tenth of a second. */
  async start(): Promise<void> {
    await this.#open();
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelStreamEvent> {
    stopIfAborted(signal);
    const body = toWireRequest(request, this.#config);
    for (let retries = 0; ; retries++) {
      let shown = false;
      try {
        for await (const event of this.#attempt(body, signal)) {
          shown = true;
          yield event;
        }
        return;
      } catch (error) {
        if (shown || !(error instanceof ModelProviderError)) throw error;
        await this.#waitToRetry(error, retries, signal);
      }
    }
  }

  async #waitToRetry(error: ModelProviderError, retries: number, signal: AbortSignal): Promise<void> {
    const { random, wait, logger } = this.#options;
    const { maxRetries, maxRetryAfterMs } = this.#config;
    const delayMs = retryDelay(error, retries, { maxRetries, maxRetryAfterMs, random });
    if (delayMs === undefined) throw error;
    logger.warn('a model request is sent again', { model: this.name, kind: error.kind, status: error.status, delayMs });
    await abortable(wait(delayMs, signal), signal);
  }

  async *#attempt(body: WireRequest, caller: AbortSignal): AsyncGenerator<ModelStreamEvent> {
    const attempt = new RequestAttempt(caller);
    let whole = false;
    try {
      const answer = await this.#request(body, attempt);
      const assembler = new CompletionAssembler({
        toError: this.#toError,
        newId: this.#options.newId,
        warn: (message) => this.#options.logger.warn(message, { model: this.name }),
      });
      const chunks = readChatStream(answer, {
        maxBytes: this.#config.maxResponseBytes,
        waitForPacket: (packet) => this.#waitForPacket(packet, assembler, attempt),
        toError: this.#toError,
      });
      for await (const chunk of chunks) yield* assembler.accept(chunk);
      const response = assembler.complete();
      whole = true;
      attempt.release();
      yield { type: 'completed', response };
    } finally {
      if (!whole) attempt.close();
    }
  }

  async #request(body: WireRequest, attempt: RequestAttempt): Promise<ReadableStream<Uint8Array>> {
    const { library, client } = await this.#open();
    const { signal } = attempt;
    stopIfAborted(signal);
    try {
      const sent = client.chat.completions.create(body, { signal }).asResponse();
      const response = await attempt.within(this.#config.timeoutMs, 'begun to answer', sent);
      return response.body ?? new Blob([]).stream();
    } catch (error) {
      stopIfAborted(signal);
      const failure = readStatusFailure(error, library, this.#options.now());
      if (failure !== undefined) throw this.#toError(failure);
      if (error instanceof library.OpenAI.APIConnectionError) {
        throw toConnectionError(error, 'the connection to the model server failed');
      }
      throw new ModelProviderError('provider_error', withoutSecrets(messageOf(error), this.#secrets));
    }
  }

  async #waitForPacket(
    packet: Promise<Packet>,
    assembler: CompletionAssembler,
    attempt: RequestAttempt,
  ): Promise<Packet> {
    const { idleTimeoutMs } = this.#config;
    const limit = assembler.isFinished ? Math.min(idleTimeoutMs, TRAILER_MS) : idleTimeoutMs;
    try {
      return await attempt.within(limit, 'sent anything', packet);
    } catch (error) {
      if (attempt.abortedByCaller) throw error;
      // The answer is whole; only its usage is missing, which then is unknown.
      if (assembler.isFinished) return { done: true, value: undefined };
      throw error instanceof ModelProviderError
        ? error
        : toConnectionError(error, 'the connection to the model server broke');
    }
  }

  readonly #toError = (failure: ProviderFailure): ModelProviderError => {
    const text = withoutSecrets(failure.text, this.#secrets);
    return toModelError({ ...failure, text }, this.#config.overflowPatterns);
  };

  #open(): Promise<OpenedLibrary> {
    this.#opened ??= this.#load();
    return this.#opened;
  }

  async #load(): Promise<OpenedLibrary> {
    const library = await import('openai');
    const client = new library.OpenAI({
      apiKey: this.#config.apiKey.reveal(),
      baseURL: this.#config.baseUrl,
      defaultHeaders: this.#config.headers,
      maxRetries: 0,
      timeout: NO_LIMIT_MS,
      fetch: withBoundedErrors(this.#options.fetch),
      logLevel: 'off',
      // Null keeps the library from reading these from the environment of the process.
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
    });
    return { library, client };
  }
}
