import { storeUnavailable } from '@parley/service-kit';
import type { Redis } from 'ioredis';
import type { AgentRecord } from '../../domain/types.js';
import type { Snapshot } from '../store.js';
import type { Keys } from './keys.js';
import { readLine } from './log-lines.js';
import { asArray, asNumber, asText } from './reply.js';
import type { ScriptRunner } from './script-runner.js';
import { LOG_END, READ_RECORDS, REINDEX } from './scripts/log.js';

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
  const [now, epoch, revision, line, renewals, deadlines] = await runner.run(LOG_END, []);
  const nowMs = runner.learn(now, sentAt);
  runner.saw(asNumber(revision));
  // The order of deadlines is derived; without it there is nothing to walk.
  if (asNumber(deadlines) === 0) await reindex(source);
  return {
    nowMs,
    position: {
      epoch: asText(epoch),
      revision: asNumber(revision),
      mark: line === null ? '' : readLine(line).mark,
      renewals: asText(renewals),
    },
    records: readRecords(source),
  };
}

async function* readRecords(source: SnapshotSource): AsyncGenerator<readonly AgentRecord[]> {
  const { redis, keys, runner } = source;
  let cursor = '0';
  do {
    let flat: string[];
    try {
      [cursor, flat] = await redis.zscan(keys.deadlines, cursor, 'COUNT', BATCH);
    } catch (error) {
      throw storeUnavailable(error);
    }
    const ids = flat.filter((_, index) => index % 2 === 0);
    // A small set comes in one piece, whatever was asked for.
    for (let at = 0; at < ids.length; at += BATCH) {
      const [, found] = await runner.run(READ_RECORDS, ids.slice(at, at + BATCH));
      yield asArray(found).map(toRecord);
    }
  } while (cursor !== '0');
}

function toRecord(reply: unknown): AgentRecord {
  const [agentId, manifestJson, ttl, deadline, revision, registeredAt] = asArray(reply);
  return {
    agentId: asText(agentId),
    manifestJson: asText(manifestJson),
    ttlMs: asNumber(ttl),
    deadlineMs: asNumber(deadline),
    revision: asNumber(revision),
    registeredAtMs: asNumber(registeredAt),
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
      throw storeUnavailable(error);
    }
    const ids = found.map((key) => key.slice(keys.agentPrefix.length));
    for (let at = 0; at < ids.length; at += BATCH) asArray(await runner.run(REINDEX, ids.slice(at, at + BATCH)));
  } while (cursor !== '0');
}
