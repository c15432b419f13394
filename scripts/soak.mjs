#!/usr/bin/env node
/**
 * Many agents with short leases against several replicas for minutes: does the registry keep its promises?
 * `node scripts/soak.mjs --agents 500 --lease 5 --minutes 3 [--replicas 2] [--redis-url redis://...]`
 * Starts the replicas (built before: `make build`), and a Redis of its own unless one is given. Exit code 1 when
 * anything was not as it should be.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { endEverything, replayWatch, startLightFleet, startRedis, watchEvents } from '@parley/testkit';
import { freePorts } from './lib/free-ports.mjs';
import { startService, untilReady } from './lib/service-process.mjs';
import { read, useProjectNode } from './lib/workspace.mjs';

useProjectNode();

const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '500' },
    lease: { type: 'string', default: '5' },
    minutes: { type: 'string', default: '3' },
    replicas: { type: 'string', default: '2' },
    'redis-url': { type: 'string' },
  },
});
const agents = positive('agents');
const leaseSeconds = positive('lease');
const runMs = positive('minutes') * 60_000;
const replicaCount = positive('replicas');
/** Sweeps run every second, and each replica then tells its watchers. */
const SETTLE_MS = 10_000;

const started = [];
const noteworthy = [];
const countFaults = [];

function positive(name) {
  const value = Number(values[name]);
  if (Number.isFinite(value) && value > 0) return value;
  console.error(`--${name} must be a number above 0`);
  return process.exit(2);
}

async function redisUrl() {
  if (values['redis-url'] !== undefined) return values['redis-url'];
  const script = fileURLToPath(new URL('ensure-redis.mjs', import.meta.url));
  process.env.REDIS_SERVER_BIN = read(process.execPath, [script], { timeoutMs: 600_000 }).trim();
  return (await startRedis()).url;
}

async function startReplicas(redis) {
  const ports = await freePorts(2 * replicaCount);
  const urls = [];
  // A namespace of its own: nobody else's agents are counted, and nobody's are disturbed.
  const namespace = `soak-${process.pid}`;
  for (let index = 0; index < replicaCount; index += 1) {
    const [http, grpc] = ports.slice(2 * index, 2 * index + 2);
    const onLine = (line) => {
      if (/\] \d\d:\d\d:\d\d\.\d{3} (?:warn|error): /u.test(line)) noteworthy.push(line);
    };
    const env = {
      REGISTRY_HOST: '127.0.0.1',
      REGISTRY_HTTP_PORT: `${http}`,
      REGISTRY_GRPC_PORT: `${grpc}`,
      REGISTRY_LOG_FORMAT: 'text',
      REGISTRY_NAMESPACE: namespace,
      REDIS_URL: redis,
      OTEL_EXPORTER_OTLP_ENDPOINT: '',
    };
    started.push(startService('registry', env, onLine));
    urls.push(`http://127.0.0.1:${http}`);
  }
  for (const url of urls) await untilReady(`${url}/readyz`);
  return urls;
}

async function total(url) {
  const response = await fetch(`${url}/agents?limit=1`, { signal: AbortSignal.timeout(5_000) });
  return (await response.json()).total;
}

async function untilEverywhere(urls, wanted) {
  const until = Date.now() + SETTLE_MS;
  for (;;) {
    const totals = await Promise.all(urls.map(total));
    if (totals.every((count) => count === wanted)) return;
    if (Date.now() > until) throw new Error(`${wanted} agents were expected, the replicas count ${totals.join(', ')}`);
    await sleep(100);
  }
}

async function soak() {
  const redis = await redisUrl();
  const urls = await startReplicas(redis);
  const watches = await Promise.all(urls.map((url) => watchEvents(url)));
  const beganAt = performance.now();
  const fleet = await startLightFleet({ registryUrls: urls, size: agents, leaseSeconds });
  await untilEverywhere(urls, agents);
  const startedMs = performance.now() - beganAt;
  console.log(`${agents} agents at ${urls.length} replicas after ${(startedMs / 1_000).toFixed(1)} s`);

  const until = Date.now() + runMs;
  let saidAt = Date.now();
  while (Date.now() < until) {
    await sleep(Math.min(1_000, Math.max(0, until - Date.now())));
    const totals = await Promise.all(urls.map(total));
    if (totals.some((count) => count !== agents)) countFaults.push(totals.join(' and '));
    if (Date.now() - saidAt >= 30_000) {
      saidAt = Date.now();
      console.log(`${fleet.counts.renewals} renewals, the replicas count ${totals.join(' and ')}`);
    }
  }
  const counts = { ...fleet.counts };
  const during = watches.map(({ all }) => replayWatch(all));
  const early = during.flatMap(({ expired }) => [...expired.keys()]);

  // Nobody renews any more: each must end, once, within its lease and the time of a sweep.
  await fleet.stop();
  await sleep(leaseSeconds * 1_000);
  await untilEverywhere(urls, 0);
  await Promise.all(watches.map((watch) => untilTold(watch)));
  const after = watches.map(({ all }) => replayWatch(all));
  const endings = after.map(({ expired }) => expired.size);
  const faults = after.flatMap((one) => one.faults);
  return { counts, early: new Set(early).size, endings, faults };
}

async function untilTold(watch) {
  const until = Date.now() + SETTLE_MS;
  while (replayWatch(watch.all).living.size > 0 && Date.now() < until) await sleep(50);
}

function report({ counts, early, endings, faults }) {
  const rows = [
    ['registrations', counts.registrations, agents],
    ['renewals', counts.renewals],
    ['renewals that failed and were repeated', counts.failures, 0],
    ['answers that a lease was unknown', counts.unknownLeases, 0],
    ['of these, although it was promised for longer', counts.brokenPromises, 0],
    ['false expiries', early, 0],
    ['events twice or out of order', faults.length, 0],
    ['seconds in which a replica counted otherwise', countFaults.length, 0],
    ...endings.map((count, index) => [`ends told by replica ${index + 1}`, count, agents]),
    ['slowest renewal (ms)', Math.round(counts.maxRenewMs)],
    ['latest renewal (ms after its time)', Math.round(counts.maxLatenessMs)],
    ['warnings and errors of the replicas', noteworthy.length],
  ];
  for (const [name, value, wanted] of rows) {
    const wrong = wanted !== undefined && value !== wanted;
    console.log(`${name.padEnd(48)} ${String(value).padStart(8)}${wrong ? `   NOT ${wanted}` : ''}`);
  }
  for (const line of [...faults.slice(0, 10), ...countFaults.slice(0, 10), ...noteworthy.slice(0, 10)])
    console.log(`  ${line}`);
  return rows.every(([, value, wanted]) => wanted === undefined || value === wanted);
}

let clean = false;
try {
  clean = report(await soak());
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
} finally {
  for (const { code } of await Promise.all(started.map((service) => service.stop()))) {
    if (code === 0) continue;
    clean = false;
    console.error(`a replica ended with ${code}`);
  }
  await endEverything();
}
console.log(clean ? 'Soak: clean' : 'Soak: NOT clean');
process.exit(clean ? 0 : 1);
