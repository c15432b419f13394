#!/usr/bin/env node
/**
 * What becomes of registrations when an external Redis changes under load: a master watched by sentinels is killed, and
 * is frozen and woken; a slot of a cluster moves, and the master that serves it is killed. Prints a table (markdown).
 * `node scripts/redis-failover.mjs [--rounds 1]`
 * Starts everything itself (the services are built before: `make build`). Exit code 1 when a registration was lost.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  endEverything,
  eventually,
  registrationsUnderChange,
  startRedisCluster,
  startRedisSentinel,
} from '@parley/testkit';
import { freePorts } from './lib/free-ports.mjs';
import { startService, untilReady } from './lib/service-process.mjs';
import { read, useProjectNode } from './lib/workspace.mjs';

useProjectNode();

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '1' } } });
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) {
  console.error('--rounds must be a whole number above 0');
  process.exit(2);
}
const ensure = fileURLToPath(new URL('ensure-redis.mjs', import.meta.url));
process.env.REDIS_SERVER_BIN = read(process.execPath, [ensure], { timeoutMs: 600_000 }).trim();

const KEY = '{parley}';
const PATIENCE = { timeoutMs: 20_000 };
const rows = [];

async function withRegistries(env, run) {
  const ports = await freePorts(4);
  const services = [0, 2].map((at) =>
    startService(
      'registry',
      {
        REGISTRY_HOST: '127.0.0.1',
        REGISTRY_HTTP_PORT: `${ports[at]}`,
        REGISTRY_GRPC_PORT: `${ports[at + 1]}`,
        REGISTRY_DRAIN_DELAY_MS: '0',
        OTEL_EXPORTER_OTLP_ENDPOINT: '',
        REDIS_URL: '',
        ...env,
      },
      () => undefined,
    ),
  );
  const registryUrls = [ports[0], ports[2]].map((port) => `http://127.0.0.1:${port}`);
  try {
    for (const url of registryUrls) await untilReady(`${url}/readyz`);
    await run(registryUrls);
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    await endEverything();
  }
}

/** `change` is given the master and what settles when another one has taken its place. */
async function measure(name, { env, master }, change) {
  await withRegistries(env, async (registryUrls) => {
    const before = await master();
    const replaced = () =>
      eventually(async () => {
        if ((await master()) === before) throw new Error('nobody took its place');
      }, PATIENCE);
    const report = await registrationsUnderChange({ registryUrls, master, change: () => change(before, replaced) });
    rows.push({ name, report });
    console.error(`${name}: ${Math.round(report.longestOutageMs)} ms`);
  });
}

async function startCluster() {
  const cluster = await startRedisCluster({ masters: 3, replicas: 1 });
  return { cluster, env: cluster.env, master: () => cluster.ownerOf(KEY) };
}

async function kill(before, replaced) {
  process.kill(before.pid, 'SIGKILL');
  await replaced();
}

async function round() {
  await measure('Sentinel: master killed', await startRedisSentinel(), kill);
  await measure(
    'Sentinel: master frozen, woken after the fail-over',
    await startRedisSentinel(),
    async (before, replaced) => {
      before.pause();
      await replaced();
      await before.resume();
    },
  );
  const { cluster, ...moving } = await startCluster();
  await measure('Cluster: slot moved', moving, async (before) => {
    await cluster.moveSlot(KEY, await cluster.anotherMaster(before), { batch: 25 });
  });
  await measure('Cluster: master of the slot killed', await startCluster(), kill);
}

function print() {
  const columns = [
    ['change', ({ name }) => name],
    ['registrations', ({ report }) => report.counts.registrations],
    ['renewals', ({ report }) => report.counts.renewals],
    ['lost registrations', ({ report }) => report.lost.length],
    ['forgotten by Redis, registered again', ({ report }) => report.counts.unknownLeases],
    ['registries that read all anew', ({ report }) => report.watches.filter((one) => one.resyncs > 0).length],
    ['answers that lacked somebody', ({ report }) => report.absences.length],
    [
      'missing or wrong in a watch',
      ({ report }) => sum(report.watches, (one) => one.unseen.length + one.faults.length),
    ],
    ['longest write outage (ms)', ({ report }) => Math.round(report.longestOutageMs)],
    ['failed writes, repeated', ({ report }) => report.counts.failures],
  ];
  const line = (cells) => `| ${cells.join(' | ')} |`;
  console.log(line(columns.map(([title]) => title)));
  console.log(line(columns.map(() => '---')));
  for (const row of rows) console.log(line(columns.map(([, value]) => value(row))));
}

function sum(all, count) {
  return all.reduce((total, one) => total + count(one), 0);
}

try {
  for (let done = 0; done < rounds; done += 1) await round();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  await endEverything();
}
print();
if (rows.some(({ report }) => report.lost.length > 0)) process.exitCode = 1;
process.exit();
