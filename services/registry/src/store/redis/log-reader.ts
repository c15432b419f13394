import { once } from 'node:events';
import { storeUnavailable } from '@parley/service-kit';
import type { Redis } from 'ioredis';
import type { Renewal } from '../../domain/types.js';
import { LogGap, type LogBatch, type LogPosition } from '../store.js';
import type { Keys } from './keys.js';
import { readLine, unpackRenewals } from './log-lines.js';
import { asArray, asFields, asNumber, asText } from './reply.js';
import type { ScriptRunner } from './script-runner.js';
import { LOG_LINE } from './scripts/log.js';

const MAX_BATCH = 200;
const BLOCK_MS = 1_000;
/** Redis answers a blocked read after `BLOCK_MS` at the latest; a connection that is silent for longer is dead. */
const WATCHDOG_MS = 2_500;

export interface LogReaderOptions {
  readonly redis: Redis;
  readonly keys: Keys;
  readonly runner: ScriptRunner;
  /** Own batches of renewals were applied when they were made. */
  readonly origin: string;
}

/** The connection on which the log was found to be the one that the reader knows. */
interface Verified {
  stream: Redis['stream'] | undefined;
}

/** Follows both streams with one blocking read on a connection of its own. */
export class LogReader {
  readonly #options: LogReaderOptions;

  constructor(options: LogReaderOptions) {
    this.#options = options;
  }

  async *read(after: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
    const over = new AbortController();
    const stop = (): void => {
      over.abort();
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      const connection: Verified = { stream: undefined };
      let position = after;
      while (!signal.aborted) {
        const batch = this.#toBatch(position, await this.#blockingRead(position, over, connection));
        position = batch.position;
        yield batch;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /**
   * Whether this is still the log that the reader knows. A Redis that came back with older data, or a replica that
   * was promoted before it had everything, may have given the same revisions to other changes.
   */
  async #verify({ epoch, revision, mark }: LogPosition): Promise<void> {
    const { redis, runner } = this.#options;
    const sentAt = runner.localNow();
    // Over the connection that is read: another one may lead to another server for a while.
    const [nowMs, epochNow, lastRevision, line] = await runner.run(LOG_LINE, [revision], redis);
    runner.learn(nowMs, sentAt);
    if (epochNow !== epoch || asNumber(lastRevision) < revision) throw new LogGap('epoch_changed');
    if (line !== null && mark !== '' && readLine(line).mark !== mark) throw new LogGap('epoch_changed');
  }

  async #blockingRead(position: LogPosition, over: AbortController, verified: Verified): Promise<unknown> {
    const { redis, keys } = this.#options;
    const watchdog = setTimeout(() => {
      over.abort();
    }, WATCHDOG_MS);
    try {
      over.signal.throwIfAborted();
      // Rejects with the error of an attempt to connect, too.
      if (redis.status !== 'ready') await once(redis, 'ready', { signal: over.signal });
      const { stream } = redis;
      // At the end of a new connection may be another server, promoted before it had everything.
      if (verified.stream !== stream) await orAborted(this.#verify(position), over.signal);
      verified.stream = stream;
      const read = redis.xread(
        ...(['COUNT', MAX_BATCH, 'BLOCK', BLOCK_MS, 'STREAMS', keys.changes, keys.renewals] as const),
        `${String(position.revision)}-0`,
        position.renewals,
      );
      return await orAborted(read, over.signal);
    } catch (error) {
      if (error instanceof LogGap) throw error;
      // Whatever was asked must not be answered to whoever asks next.
      redis.disconnect(true);
      throw storeUnavailable(error);
    } finally {
      clearTimeout(watchdog);
    }
  }

  #toBatch(position: LogPosition, reply: unknown): LogBatch {
    const { keys, runner, origin } = this.#options;
    const changes = [];
    const renewals: Renewal[] = [];
    let { revision, mark, renewals: renewalsId } = position;
    for (const stream of reply === null ? [] : asArray(reply)) {
      const [key, entries] = asArray(stream);
      for (const entry of asArray(entries)) {
        if (key === keys.changes) {
          const line = readLine(entry);
          // Revisions have no holes, so a hole means that the log was cut before it was read.
          if (line.change.revision !== revision + 1) throw new LogGap('too_old');
          ({ revision } = line.change);
          ({ mark } = line);
          changes.push(line.change);
        } else {
          const [id, flat] = asArray(entry);
          renewalsId = asText(id);
          const fields = asFields(flat);
          if (fields.get('origin') !== origin) renewals.push(...unpackRenewals(asText(fields.get('renewals'))));
        }
      }
    }
    runner.saw(revision);
    return { position: { epoch: position.epoch, revision, mark, renewals: renewalsId }, changes, renewals };
  }
}

async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => {
      reject(new Error('Redis did not answer a blocked read in time'));
    };
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
    promise.catch(() => undefined);
  }
}
