import { decodeJsonBody, isJsonObject, JsonError, numberOf, parseExact, type JsonObject } from '@parley/proxy-protocol';
import type { EnvTarget } from './env-target.js';
import { exchange, type Connector, type HttpAnswer, type HttpRequest } from './http-exchange.js';
import { messageOf, sessionError, type McpError } from './mcp-errors.js';
import { SseData } from './sse-data.js';

const MAX_REDIRECTS = 5;
const MAX_ERROR_TEXT = 1_000;
const REDIRECTS = new Set([301, 302, 307, 308]);

/** What an exchange is for, in the words of an error. */
export interface Purpose {
  /** `tools/call`. */
  readonly method: string;
  readonly signal: AbortSignal;
}

export interface McpTransportOptions {
  readonly connector: Connector;
  readonly maxResponseBytes: number;
}

/**
 * The HTTP side of one env server: requests with its headers, redirects within its origin, answers with a bound. The
 * SDK of the protocol is not used since it reads answers with `JSON.parse`, which loses integers beyond 2^53.
 */
export class McpTransport {
  constructor(
    private readonly target: EnvTarget,
    private readonly options: McpTransportOptions,
  ) {}

  /** Sends it, following redirects; the registered headers never reach another origin. */
  async send<T>(ask: Omit<HttpRequest, 'url'>, purpose: Purpose, read: (answer: HttpAnswer) => Promise<T>): Promise<T> {
    let url = this.target.url;
    for (let redirects = 0; ; redirects += 1) {
      const request = { ...ask, url, headers: { ...this.target.headers, ...ask.headers } };
      const outcome = await exchange(request, this.options.connector, purpose.signal, async (answer) => {
        const location = REDIRECTS.has(answer.status) ? answer.header('location') : '';
        return location === '' ? { value: await read(answer) } : { location };
      });
      if ('value' in outcome) return outcome.value;
      if (redirects === MAX_REDIRECTS)
        throw sessionError(`${purpose.method}: redirected more than ${String(MAX_REDIRECTS)} times`);
      url = this.#redirected(url, outcome.location, purpose);
    }
  }

  /** The reply to the request with this id, out of a JSON body or an event stream. */
  async reply(answer: HttpAnswer, id: number, purpose: Purpose): Promise<JsonObject> {
    const type = answer.header('content-type').toLowerCase();
    const encoding = answer.header('content-encoding').toLowerCase();
    if (encoding !== '' && encoding !== 'identity') {
      throw sessionError(
        `${purpose.method}: the answer came encoded as ${encoding.slice(0, 40)}, which wasn't asked for`,
      );
    }
    try {
      if (type.startsWith('text/event-stream')) return await this.#streamedReply(answer, id, purpose);
      if (type.startsWith('application/json')) return await this.#plainReply(answer, id, purpose);
    } catch (error) {
      if (error instanceof JsonError) throw sessionError(`${purpose.method}: unreadable reply: ${error.message}`);
      throw error;
    }
    throw sessionError(`${purpose.method}: unexpected content type '${type.slice(0, 200)}'`);
  }

  /** An error's text, cut; it says no more than that if even this cannot be read. */
  async refusal(answer: HttpAnswer, purpose: Purpose): Promise<McpError> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      for await (const chunk of answer.chunks()) {
        chunks.push(chunk);
        size += chunk.length;
        if (size >= 4 * MAX_ERROR_TEXT) break;
      }
    } catch (error) {
      purpose.signal.throwIfAborted();
      chunks.push(Buffer.from(` (${messageOf(error)})`));
    }
    const text = Buffer.concat(chunks).toString('utf8').slice(0, MAX_ERROR_TEXT).toWellFormed();
    const { origin, pathname } = this.target.url;
    return sessionError(`${purpose.method}: HTTP ${String(answer.status)} from ${origin}${pathname}: ${text}`);
  }

  #redirected(from: URL, location: string, purpose: Purpose): URL {
    const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
    if (to === undefined) throw sessionError(`${purpose.method}: redirected to an unusable URL`);
    if (to.origin === this.target.url.origin) return to;
    throw sessionError(
      `${purpose.method}: ${this.target.url.origin} redirects to another origin, ${to.origin}, which isn't followed`,
    );
  }

  async #streamedReply(answer: HttpAnswer, id: number, purpose: Purpose): Promise<JsonObject> {
    const events = new SseData();
    for await (const chunk of this.#bounded(answer, purpose)) {
      for (const data of events.push(chunk)) {
        const reply = parseExact(data);
        if (isReplyTo(reply, id)) return reply;
      }
    }
    throw sessionError(`${purpose.method}: the event stream ended before the reply`);
  }

  async #plainReply(answer: HttpAnswer, id: number, purpose: Purpose): Promise<JsonObject> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.#bounded(answer, purpose)) chunks.push(chunk);
    const body = parseExact(decodeJsonBody(Buffer.concat(chunks)));
    // Servers of an older version of the protocol may answer with a batch.
    const reply = Array.isArray(body) ? body.find((item: unknown) => isReplyTo(item, id)) : body;
    if (isJsonObject(reply)) return reply;
    throw sessionError(`${purpose.method}: the reply is not a JSON-RPC object`);
  }

  async *#bounded(answer: HttpAnswer, purpose: Purpose): AsyncGenerator<Uint8Array> {
    let size = 0;
    for await (const chunk of answer.chunks()) {
      size += chunk.length;
      if (size > this.options.maxResponseBytes) {
        throw sessionError(
          `${purpose.method}: the answer is larger than ${String(this.options.maxResponseBytes)} bytes`,
        );
      }
      yield chunk;
    }
  }
}

function isReplyTo(value: unknown, id: number): value is JsonObject {
  if (!isJsonObject(value) || numberOf(value['id']) !== id) return false;
  return Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error');
}
