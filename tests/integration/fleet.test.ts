import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, replayWatch, startLightFleet, startRedis, watchEvents } from '@parley/testkit';
import { get } from './support/http.js';
import { observePresence } from './support/presence.js';
import { START_MS, startRegistry } from './support/services.js';

const SIZE = 200;
const LEASE_SECONDS = 5;
const RUN_MS = 20_000;

describe(`${String(SIZE)} agents with leases of ${String(LEASE_SECONDS)} s at two replicas`, () => {
  it(
    'are kept alive, each told of once, and counted alike by everybody',
    async () => {
      const redis = await startRedis();
      const replicas = await Promise.all([1, 2].map(() => startRegistry({ redisUrl: redis.url })));
      const urls = replicas.map(({ url }) => url);
      const watches = await Promise.all(urls.map((url) => watchEvents(url)));
      const fleet = await startLightFleet({ registryUrls: urls, size: SIZE, leaseSeconds: LEASE_SECONDS });
      for (const url of urls) {
        await eventually(async () => expect((await get(`${url}/agents?limit=1`)).body.total).toBe(SIZE));
      }
      const presences = urls.map((url) => observePresence(url, 'fleet', fleet.ids));
      await sleep(RUN_MS);

      for (const presence of presences) {
        await presence.stop();
        expect(presence.gaps).toEqual([]);
        expect([...presence.statuses.keys()]).toEqual([200]);
        expect(presence.stale).toBe(0);
      }
      expect(fleet.counts).toMatchObject({ registrations: SIZE, unknownLeases: 0, brokenPromises: 0, failures: 0 });
      // At a third of the lease, give or take a tenth.
      expect(fleet.counts.renewals).toBeGreaterThan((SIZE * RUN_MS) / ((LEASE_SECONDS * 1_000 * 1.1) / 3) - SIZE);
      for (const url of urls) expect((await get(`${url}/agents?limit=1`)).body.total).toBe(SIZE);
      expect(await redis.cli('ZCARD', '{parley}:deadlines')).toBe(SIZE);
      for (const watch of watches) {
        const { living, expired, faults } = replayWatch(watch.all);
        expect(faults).toEqual([]);
        expect([...expired]).toEqual([]);
        expect([...living].sort()).toEqual([...fleet.ids].sort());
      }

      // Nobody renews any more: all of them end, each of them once, and nothing is left.
      await fleet.stop();
      for (const url of urls) {
        const goneIn = (LEASE_SECONDS + 5) * 1_000;
        await eventually(async () => expect((await get(`${url}/agents?limit=1`)).body.total).toBe(0), {
          timeoutMs: goneIn,
        });
      }
      for (const watch of watches) {
        await eventually(() => expect(replayWatch(watch.all).expired.size).toBe(SIZE));
        const { living, expired, faults } = replayWatch(watch.all);
        expect([...living, ...faults]).toEqual([]);
        expect(new Set(expired.values())).toEqual(new Set([1]));
        const early = watch.changes.filter(({ type, agentId = '', data }) => {
          const promised = fleet.promisedUntilMs(agentId) ?? Number.POSITIVE_INFINITY;
          return type === 'expired' && Date.parse(String(data['at'])) < promised;
        });
        expect(early).toEqual([]);
      }
      expect(await redis.cli('ZCARD', '{parley}:deadlines')).toBe(0);
      const events = watches.map(({ changes }) =>
        changes.map(({ type, agentId, revision }) => [type, agentId, revision]),
      );
      expect(events[1]).toEqual(events[0]);
    },
    2 * START_MS + 60_000,
  );
});
