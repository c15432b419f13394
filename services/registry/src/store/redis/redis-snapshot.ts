import type { Redis } from 'ioredis';
import { guardedDeadline, type Outage } from '../../domain/guard.js';
import type { AgentRecord } from '../../domain/types.js';
import type { Snapshot } from '../store.js';
import type { Keys } from './keys.js';
import { readLine } from './log-lines.js';
import { asArray, asNumber, asText } from './reply.js';
import type { ScriptRunner } from './script-runner.js';
import { LOG_END, REINDEX } from './scripts/log.js';

const BATCH = 500;

export interface SnapshotSource {
  readonly redis: Redis;
  readonly keys: Keys;
  readonly runner: ScriptRunner;
}

/**
 * First where the log stands, then the records, batch by batch: what changes meanwhile is either in a record already
 * or comes through the log, and revisions tell which.
 */
export async function takeSnapshot(source: SnapshotSource): Promise<Snapshot> {
  const { runner } = source;
  const sentAt = runner.localNow();
  const [now, epoch, revision, line, renewals, deadlines, from, back] = await runner.run(LOG_END, []);
  const nowMs = runner.learn(now, sentAt);
  runner.saw(asNumber(revision));
  // The order of deadlines is derived; without it there is nothing to walk.
  if (asNumber(deadlines) === 0) await reindex(source);
  const outage = from === null ? undefined : { awayFromMs: asNumber(from), backAtMs: asNumber(back) };
  return {
    nowMs,
    position: {
      epoch: asText(epoch),
      revision: asNumber(revision),
      mark: line === null ? '' : readLine(line).mark,
      renewals: asText(renewals),
    },
    records: readRecords(source, outage),
  };
}

async function* readRecords(
  source: SnapshotSource,
  outage: Outage | undefined,
): AsyncGenerator<readonly AgentRecord[]> {
  const { redis, keys, runner } = source;
  let cursor = '0';
  do {
    try {
      const [next, flat] = await redis.zscan(keys.deadlines, cursor, 'COUNT', BATCH);
      cursor = next;
      const ids = flat.filter((_, index) => index % 2 === 0);
      // A small set comes in one piece, whatever was asked for.
      for (let at = 0; at < ids.length; at += BATCH) {
        const records = await Promise.all(ids.slice(at, at + BATCH).map((id) => readRecord(source, id, outage)));
        yield records.filter((record) => record !== undefined);
      }
    } catch (error) {
      throw runner.failed(error);
    }
  } while (cursor !== '0');
}

/** Undefined for an orphan, or for one that has ended since its id was read. */
async function readRecord(
  { redis, keys }: SnapshotSource,
  agentId: string,
  outage: Outage | undefined,
): Promise<AgentRecord | undefined> {
  const fields = await redis.hmget(`${keys.agentPrefix}${agentId}`, 'json', 'ttl', 'deadline', 'rev', 'reg');
  const [manifestJson, ttl, deadline, revision, registeredAt] = fields;
  if (typeof manifestJson !== 'string' || typeof deadline !== 'string') return undefined;
  const ttlMs = Number(ttl);
  return {
    agentId,
    manifestJson,
    ttlMs,
    deadlineMs: guardedDeadline(Number(deadline), ttlMs, outage),
    revision: Number(revision),
    registeredAtMs: Number(registeredAt),
  };
}

/** Rebuilds the order of deadlines from the records themselves. Each renewal mends its own place too. */
export async function reindex({ redis, keys, runner }: SnapshotSource): Promise<void> {
  const pattern = `${keys.agentPrefix.replaceAll(/[\\*?[\]]/g, '\\$&')}*`;
  let cursor = '0';
  do {
    let found: string[];
    try {
      [cursor, found] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', 1_000);
    } catch (error) {
      throw runner.failed(error);
    }
    const ids = found.map((key) => key.slice(keys.agentPrefix.length));
    for (let at = 0; at < ids.length; at += BATCH) asArray(await runner.run(REINDEX, ids.slice(at, at + BATCH)));
  } while (cursor !== '0');
}
