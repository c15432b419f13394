#!/usr/bin/env node
/**
 * Drivers that do to a proxy whatever drivers do, for minutes: does it keep anything that it should give back?
 * `node scripts/soak-proxy.mjs [--minutes 30] [--drivers 16] [--sample 5] [--journal]` (built before: `make build`).
 * One JSON line a minute and a verdict as the last one; exit code 1 when anything was not as it should be.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { endEverything, startProcess } from '@parley/testkit';
import { A2aSender, ProxyClient, ProxyRefused, TurnGone } from '@parley/proxy-protocol';
import { Agent, request } from 'undici';
import { liveHeapBytes } from '../bench/lib/heap.mjs';
import { freePorts } from './lib/free-ports.mjs';
import { commandsIn, described, look } from './lib/proxy-processes.mjs';
import { root, useProjectNode } from './lib/workspace.mjs';

useProjectNode();

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    drivers: { type: 'string', default: '16' },
    sample: { type: 'string', default: '5' },
    journal: { type: 'boolean', default: false },
  },
});
const runMs = positive('minutes') * 60_000;
const driverCount = positive('drivers');
const sampleMs = positive('sample') * 1_000;

const TOKEN = `token-of-the-soak-${randomBytes(16).toString('hex')}`;
/** By then whatever ends by itself has ended. */
const SETTLE_MS = 12_000;
/** More than the first samples by so much is growth. */
const GROWTH = 1.15;
/** What is kept of ended turns is bounded; small enough to be reached early. */
const KEPT_TASKS = 256;

const counts = { turns: 0, acts: 0, tools: 0, cancels: 0, timeOuts: 0, abortedPolls: 0, repliesWhileRunning: 0 };
const faults = [];
/** Closed at the end: connections that we leave idle must not look like what the proxy keeps. */
const cancelling = new Agent();
const samples = [];
const stopping = new AbortController();
let isOver = false;

function positive(name) {
  const value = Number(values[name]);
  if (Number.isFinite(value) && value > 0) return value;
  console.error(`--${name} must be a number above 0`);
  return process.exit(2);
}

function fault(text) {
  if (faults.length < 20) faults.push(text);
}

const pick = (list) => list[Math.floor(Math.random() * list.length)];
const seconds = (least, most) => (least + Math.random() * (most - least)).toFixed(2);

async function startAll() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-soak-proxy-')));
  const env = await startProcess({
    command: process.execPath,
    args: [join(root, 'tests/support/env-server.mjs')],
    readyWhen: /^http/u,
  });
  const [port, inspect] = await freePorts(2);
  const proxy = await startProcess({
    command: process.execPath,
    args: [`--inspect=127.0.0.1:${inspect}`, join(root, 'services/proxy/dist/main.js')],
    cwd: folder,
    env: {
      HOME: folder,
      A2A_HOST: '127.0.0.1',
      A2A_PORT: `${port}`,
      PROXY_LONG_POLL_SECONDS: '3',
      PROXY_MAX_TASKS: `${KEPT_TASKS}`,
      PROXY_MAX_CONTEXTS: '64',
      PROXY_LOG_FORMAT: 'text',
      PROXY_LOG_LEVEL: 'warn',
      ...(values.journal ? { PROXY_STATE_DIR: join(folder, 'state') } : {}),
    },
    readyWhen: `http://127.0.0.1:${port}/health`,
  });
  const url = `http://127.0.0.1:${port}`;
  const control = new ProxyClient({ url, token: TOKEN });
  await control.claim();
  await control.addServer({ name: 'env', url: env.stdout[0] });
  return { folder, env, proxy, url, inspect, control };
}

/** Listeners of the process, and what keeps its event loop going. */
async function loopOf(inspectPort) {
  const [target] = await (await fetch(`http://127.0.0.1:${inspectPort}/json`)).json();
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error('the inspector does not answer'));
  });
  const answer = new Promise((resolve) => {
    socket.onmessage = ({ data }) => resolve(JSON.parse(data).result.result.value);
  });
  const expression = `({
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
    resources: process.getActiveResourcesInfo().filter((name) => name !== 'Timeout').length,
    timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
  })`;
  socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression, returnByValue: true } }));
  try {
    return await answer;
  } finally {
    socket.close();
  }
}

/** The names and values of the gauges that the proxy tells of itself. */
async function metricsOf(url) {
  const text = await (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(5_000) })).text();
  const found = {};
  for (const [, name, value] of text.matchAll(/^parley_proxy_(\w+)(?:\{service="proxy"\})? (\S+)$/gmu)) {
    found[name] = Number(value);
  }
  return found;
}

const COMMANDS = [
  () => 'true',
  () => `echo $((${Math.ceil(Math.random() * 1_000)} * 2)); pwd`,
  () => `sleep ${seconds(0.01, 0.3)}`,
  () => 'sleep 600 & echo left one behind',
  () => 'sleep 600 >/dev/null 2>&1 & (sleep 600 &) ; echo left two behind',
  () => 'setsid sleep 600 >/dev/null 2>&1 & echo one in a session of its own',
  () => 'env -i setsid bash -c "sleep 600 & wait" & echo hid one',
  () => `head -c ${Math.ceil(Math.random() * 3_000_000)} /dev/urandom | base64`,
  () => `for i in $(seq ${Math.ceil(Math.random() * 400)}); do echo "line $i"; echo "other $i" >&2; done`,
  () => 'cat /no/such/file; exit 3',
  () => 'kill -9 $$',
  () => 'trap "" TERM; sleep 600 & wait',
  () => 'cat; echo no input',
];

async function play(client, turn) {
  const steps = 1 + Math.floor(Math.random() * 8);
  for (let step = 0; step < steps; step += 1) await act(client, turn.taskId);
  if (Math.random() < 0.15) {
    counts.repliesWhileRunning += 1;
    void client.act(turn.taskId, randomUUID(), { kind: 'bash', command: 'sleep 600' }).catch(isFine);
    await sleep(20);
  }
  await client.reply(turn.taskId, Math.random() < 0.1 ? { error: 'gave up' } : { text: 'done' });
}

async function act(client, taskId) {
  counts.acts += 1;
  const kind = Math.random();
  if (kind < 0.3) await callTool(client, taskId);
  else if (kind < 0.38) await timeOut(client, taskId);
  else if (kind < 0.45) await cancel(client, taskId);
  else if (kind < 0.55) await abortPoll(client, taskId);
  else await finish(client, taskId, { kind: 'bash', command: pick(COMMANDS.slice(0, -2))(), timeoutSeconds: 20 });
}

/** Asks until it has ended. */
async function finish(client, taskId, action) {
  const actionId = randomUUID();
  let state = await client.act(taskId, actionId, action);
  for (let asked = 0; !state.done && asked < 20; asked += 1) state = await client.result(actionId);
  if (!state.done) fault(`an action did not end: ${JSON.stringify(action)}`);
  return state.result;
}

async function callTool(client, taskId) {
  counts.tools += 1;
  const name = pick(['add', 'echo', 'fail', 'slow', 'unknown']);
  const args = { add: { a: 1, b: 2 }, slow: { seconds: 0.1 } }[name] ?? { text: 'x'.repeat(Math.random() * 20_000) };
  const result = await finish(client, taskId, { kind: 'tool', server: 'env', name, arguments: args });
  if (name === 'add' && result?.content[0]?.text !== '3') fault(`add gave ${JSON.stringify(result)}`);
}

async function timeOut(client, taskId) {
  counts.timeOuts += 1;
  const command = `echo before; ${pick(['sleep 600', 'setsid sleep 600 & sleep 600', 'trap "" TERM; sleep 600'])}`;
  const result = await finish(client, taskId, { kind: 'bash', command, timeoutSeconds: 0.3 });
  if (result?.timedOut !== true || result.stdout !== 'before\n') fault(`a time-out gave ${JSON.stringify(result)}`);
}

async function cancel(client, taskId) {
  counts.cancels += 1;
  const actionId = randomUUID();
  const running = client.act(taskId, actionId, { kind: 'bash', command: pick(COMMANDS.slice(-2))() + '; sleep 600' });
  running.catch(isFine);
  await sleep(30);
  const body = JSON.stringify({ token: TOKEN, action_id: actionId });
  const ask = { method: 'POST', body, dispatcher: cancelling, signal: AbortSignal.timeout(30_000) };
  const answer = await request(`${client.url}/ext/proxy/cancel`, ask);
  await answer.body.dump();
  await running;
}

/** A driver that hangs up while it waits, and asks again. */
async function abortPoll(client, taskId) {
  counts.abortedPolls += 1;
  const actionId = randomUUID();
  const action = { kind: 'bash', command: `sleep ${seconds(0.1, 0.4)}; echo it went on` };
  await client.act(taskId, actionId, action, { signal: AbortSignal.timeout(20) }).catch(isFine);
  await client.next(Number.MAX_SAFE_INTEGER, { signal: AbortSignal.timeout(20) }).catch(isFine);
  let state = await client.act(taskId, actionId, action);
  for (let asked = 0; !state.done && asked < 20; asked += 1) state = await client.result(actionId);
}

/** How calls end whose turn or caller went away. */
function isFine(error) {
  const isExpected = error instanceof TurnGone || error?.name === 'TimeoutError' || error?.name === 'AbortError';
  if (!isExpected) fault(`a call failed: ${error}`);
}

/** Sends, waits for the turn and plays it; now and then its sender cancels it. */
async function drive(url, lane) {
  const client = new ProxyClient({ url, token: TOKEN });
  const sender = new A2aSender({ url });
  while (!isOver) {
    try {
      const { id } = await sender.send(`message ${counts.turns}`, {
        contextId: `lane-${lane % 8}-${counts.turns % 40}`,
      });
      const turn = await seen(client, id);
      if (turn === undefined) continue;
      const canceling = Math.random() < 0.08 ? cancelSoon(sender, id) : undefined;
      await play(client, turn).catch((error) => (canceling === undefined ? Promise.reject(error) : isFine(error)));
      await canceling;
      counts.turns += 1;
    } catch (error) {
      if (error instanceof ProxyRefused || !isOver) fault(`driver ${lane}: ${error?.stack ?? error}`);
      await sleep(200);
    }
  }
  await Promise.all([client.close(), sender.close()]);
}

async function seen(client, id) {
  for (let after = 0, asked = 0; asked < 100; asked += 1) {
    const { version, turns } = await client.next(after);
    const turn = turns.find(({ taskId }) => taskId === id);
    if (turn !== undefined) return turn;
    after = version;
  }
  fault(`turn ${id} never opened`);
  return undefined;
}

async function cancelSoon(sender, id) {
  await sleep(Math.random() * 500);
  await sender.cancel(id).catch((error) => {
    // It was answered before.
    if (error?.rpcCode !== -32002) fault(`a cancel failed: ${error}`);
  });
}

async function sample(parts) {
  let saidAt = performance.now();
  while (!stopping.signal.aborted) {
    await sleep(sampleMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    if (stopping.signal.aborted) return;
    const heapMib = (await liveHeapBytes(parts.inspect)) / 1_048_576;
    const now = { ...look(parts.proxy, parts.folder), ...(await loopOf(parts.inspect)), heapMib };
    samples.push(now);
    if (performance.now() - saidAt < 59_000) continue;
    saidAt = performance.now();
    console.log(
      JSON.stringify({ minute: Math.round((samples.length * sampleMs) / 60_000), ...rounded(now), ...counts }),
    );
  }
}

function rounded(figures) {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Math.round(value * 10) / 10]));
}

function median(of) {
  return of.toSorted((a, b) => a - b)[Math.floor(of.length / 2)] ?? 0;
}

/** The medians of the second and of the last fifth: the first one is warming up. */
function trend(name) {
  const fifth = Math.max(1, Math.floor(samples.length / 5));
  const of = (list) => median(list.map((one) => one[name]));
  return { second: of(samples.slice(fifth, 2 * fifth)), last: of(samples.slice(-fifth)) };
}

async function lookAtAll(parts) {
  return { ...look(parts.proxy, parts.folder), ...(await loopOf(parts.inspect)) };
}

/** What must be as before when nobody drives any more. */
const GIVEN_BACK = ['processes', 'descriptors', 'sockets', 'listeners', 'resources'];

function kept(before, after) {
  return GIVEN_BACK.filter((name) => after[name] > before[name]);
}

async function settled(parts, before) {
  const until = performance.now() + SETTLE_MS;
  for (;;) {
    const now = await lookAtAll(parts);
    if (kept(before, now).length === 0 || performance.now() > until) return now;
    await sleep(250);
  }
}

async function soak(parts) {
  await sleep(2_000);
  const before = await lookAtAll(parts);
  const sampling = sample(parts);
  const driving = Array.from({ length: driverCount }, (_, lane) => drive(parts.url, lane));
  await sleep(runMs);
  isOver = true;
  await Promise.race([Promise.all(driving), sleep(90_000).then(() => fault('the drivers did not end'))]);
  stopping.abort();
  await sampling;
  await Promise.all([parts.control.close(), cancelling.close()]);
  const after = await settled(parts, before);
  const gauges = await metricsOf(parts.url);
  const [rss, heap] = [trend('rssMib'), trend('heapMib')];
  const verdict = {
    rssMib: rounded(rss),
    heapMib: rounded(heap),
    isFlat: rss.last <= rss.second * GROWTH && heap.last <= heap.second * GROWTH,
    before: rounded(before),
    after: rounded(after),
    kept: kept(before, after),
    left: commandsIn(parts.folder, parts.proxy.pid).map(described),
    gauges,
    faults,
    warnings: parts.proxy
      .output()
      .split('\n')
      .filter((line) => /\b(?:warn|error)\b/iu.test(line))
      .slice(0, 10),
    ...counts,
  };
  const isIdle = ['turns_open', 'turns_queued', 'actions_running'].every((name) => gauges[name] === 0);
  const isClean = kept(before, after).length === 0 && isIdle && faults.length === 0;
  console.log(JSON.stringify({ verdict: verdict.isFlat && isClean ? 'clean' : 'NOT clean', ...verdict }));
  return verdict.isFlat && isClean;
}

let isClean = false;
let parts;
try {
  parts = await startAll();
  isClean = await soak(parts);
  const { code } = await parts.proxy.stop();
  if (code !== 0) {
    isClean = false;
    console.error(`the proxy ended with ${code}`);
  }
} catch (error) {
  console.error(error);
} finally {
  stopping.abort();
  await endEverything();
  if (parts !== undefined) {
    const left = commandsIn(parts.folder, parts.proxy.pid);
    if (left.length > 0) {
      isClean = false;
      console.error(`${left.length} processes of commands outlived the proxy: ${left.map(described).join('; ')}`);
      for (const pid of left) process.kill(pid, 'SIGKILL');
    }
    rmSync(parts.folder, { recursive: true, force: true });
  }
}
process.exit(isClean ? 0 : 1);
