import { AppError } from '@parley/service-kit';
import { Agent } from 'undici';
import { deadline } from '../../peer/deadline.js';
import { guardedConnector } from '../../peer/guarded-connector.js';
import { orAborted } from '../../peer/wait.js';
import { addressPolicy, isAllowedScheme, type PushTargetRules } from './push-target.js';

export interface PushPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What came of one try. `reason` says it without anything secret; `again`: worth another one. */
export type PostOutcome =
  | { readonly delivered: true }
  | { readonly delivered: false; readonly reason: string; readonly again: boolean; readonly afterMs?: number };

export interface PushPoster {
  /** Never rejects. */
  post(post: PushPost, signal: AbortSignal): Promise<PostOutcome>;
  /** Ends all connections. */
  close(): Promise<void>;
}

export interface PushPosterOptions {
  readonly rules: PushTargetRules;
  /** For one try, name resolution and the answer's head included. */
  readonly timeoutMs: number;
  readonly maxConnectionsPerOrigin: number;
}

const MAX_RETRY_AFTER_MS = 60_000;

/** Posts to receivers that a caller named: checked scheme, checked addresses, no redirects, answers thrown away. */
export function createPushPoster({ rules, timeoutMs, maxConnectionsPerOrigin }: PushPosterOptions): PushPoster {
  const connector = guardedConnector({ ...addressPolicy(rules), connectTimeoutMs: timeoutMs });
  const agent = new Agent({
    connect: connector.connect,
    connections: maxConnectionsPerOrigin,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 60_000,
    // Every try has a deadline of its own, which covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  async function send({ url: text, headers, body }: PushPost, signal: AbortSignal): Promise<PostOutcome> {
    const url = new URL(text);
    if (!isAllowedScheme(url, rules)) return refused('target_refused');
    const sent = agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers,
      body,
      signal,
    });
    // A request that still waits for a connection does not hear its signal.
    const answer = await orAborted(sent, signal, () => signal.reason);
    // Not worth reading: a large or endless one costs the connection.
    answer.body.on('error', () => undefined);
    await answer.body.dump({ limit: 16_384, signal }).catch(() => undefined);
    return outcomeOf(answer.statusCode, answer.headers['retry-after']);
  }

  return {
    post: async (post, signal) => {
      const limit = deadline(timeoutMs, signal);
      try {
        return await send(post, limit.signal);
      } catch (error) {
        if (limit.expired()) return { delivered: false, reason: 'timeout', again: true };
        return signal.aborted ? refused('given up') : outcomeOfError(error);
      } finally {
        limit.clear();
      }
    },
    close: () => agent.destroy(),
  };
}

function outcomeOf(status: number, retryAfter: string | string[] | undefined): PostOutcome {
  if (status >= 200 && status < 300) return { delivered: true };
  const reason = `status ${String(status)}`;
  if (status !== 429 && status < 500) return refused(reason);
  const seconds = typeof retryAfter === 'string' && /^\d{1,6}$/u.test(retryAfter) ? Number(retryAfter) : undefined;
  return {
    delivered: false,
    reason,
    again: true,
    ...(seconds === undefined ? {} : { afterMs: Math.min(seconds * 1_000, MAX_RETRY_AFTER_MS) }),
  };
}

/** Only codes: a message may repeat what was sent. */
function outcomeOfError(error: unknown): PostOutcome {
  if (error instanceof AppError) return refused(error.code);
  const { code } = error as { readonly code?: unknown };
  if (typeof code !== 'string' || code === 'UND_ERR_INVALID_ARG') return refused('cannot be sent');
  return { delivered: false, reason: code, again: true };
}

function refused(reason: string): PostOutcome {
  return { delivered: false, reason, again: false };
}
