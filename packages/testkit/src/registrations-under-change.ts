import { setTimeout as sleep } from 'node:timers/promises';
import { startRegistrationLoad, type RegistrationLoad } from './registration-load.js';
import { replayWatch } from './replay-watch.js';
import type { RedisServer } from './start-redis.js';
import { waitFor } from './wait-for.js';
import { watchEvents } from './watch-events.js';

/** What became of registrations while something happened to Redis. */
export interface RedisChangeReport {
  /** Acknowledged, and at the end not to be found at some registry, or not in Redis. */
  readonly lost: readonly string[];
  /** While it happened: answers as of now that lacked somebody. */
  readonly absences: readonly string[];
  /** How long the change itself took. */
  readonly changedMs: number;
  readonly longestOutageMs: number;
  readonly counts: RegistrationLoad['counts'];
  /** Of each registry's watch: who is missing by what was told, and what must never be told. */
  readonly watches: readonly {
    readonly unseen: readonly string[];
    readonly faults: readonly string[];
    readonly resyncs: number;
  }[];
}

export interface RedisChangeOptions {
  /** Two or more replicas of one registry, in the namespace `parley`. */
  readonly registryUrls: readonly string[];
  /** Settles when it is over and writes succeed again, or are about to. */
  readonly change: () => Promise<void>;
  /** The server that has the records then. */
  readonly master: () => Promise<RedisServer>;
}

const BEFORE = 100;
const PATIENCE_MS = 30_000;
/** Longer than two renewals are apart, and than it takes to leave a replaced master: whoever was forgotten is back. */
const AFTER_MS = 5_000;

/**
 * Agents register, renew and are looked for at all registries, and somebody watches each of them: before, while and after
 * something happens to Redis. Takes about ten seconds longer than that.
 */
export async function registrationsUnderChange(options: RedisChangeOptions): Promise<RedisChangeReport> {
  const { registryUrls: urls, change, master } = options;
  const watches = await Promise.all(urls.map((url) => watchEvents(url)));
  const load = startRegistrationLoad(urls);
  await waitFor(() => load.acknowledged.size >= BEFORE, { timeoutMs: PATIENCE_MS, what: 'the first agents' });
  const since = performance.now();
  await change();
  const changedMs = performance.now() - since;
  const writes = (): number => load.counts.renewals + load.counts.registrations;
  const enough = writes() + BEFORE;
  await waitFor(() => writes() >= enough, { timeoutMs: PATIENCE_MS, what: 'writes to succeed again' });
  await sleep(AFTER_MS);
  const longestOutageMs = load.longestPauseMs(since);
  const lost = [...(await Promise.all(urls.map((url) => load.lostAt(url)))).flat(), ...(await absentIn(master, load))];
  const settled = load.settled();
  const replays = watches.map(({ all }) => replayWatch(all));
  await load.stop();
  const report: RedisChangeReport = {
    lost,
    changedMs,
    absences: load.absences,
    longestOutageMs,
    counts: load.counts,
    watches: replays.map(({ living, faults }, index) => ({
      unseen: settled.filter((id) => !living.has(id)),
      faults,
      resyncs: watches[index]?.all.filter(({ type }) => type === 'resync').length ?? 0,
    })),
  };
  for (const watch of watches) watch.stop();
  return report;
}

async function absentIn(master: RedisChangeOptions['master'], load: RegistrationLoad): Promise<string[]> {
  const server = await master();
  const settled = load.settled();
  const there = new Set((await server.cli('KEYS', '{parley}:agent:*')) as string[]);
  return settled.filter((id) => !there.has(`{parley}:agent:${id}`)).map((id) => `${id} in Redis`);
}
