// An agent's A2A side against the bare library that it is built on, each in a process of its own, in alternation.
// One JSON line per figure; `ratio` is ours to the peer's by the server's processor time per request, `rate_ratio` by
// requests per second. Then many streams at once against ours.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { HELD_EVENTS, STREAM_EVENTS } from './a2a/executor.mjs';
import { faultOf, readStream } from './a2a/streams.mjs';
import { liveHeapBytes } from './lib/heap.mjs';
import { alternate, load, round } from './lib/load.mjs';
import { startA2aServer, stopAll } from './lib/servers.mjs';

const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
const STREAMS_TAKE_AT_MOST_MS = 120_000;
/** A system opens only so many connections at a time without refusing some. */
const OPEN_PER_TICK = 50;

let sent = 0;

function print(figure) {
  console.log(JSON.stringify({ bench: 'a2a', ...figure }));
}

function message(kind) {
  sent += 1;
  return { message: { messageId: `${kind}-${sent}`, role: 'ROLE_USER', parts: [{ text: 'hello' }] } };
}

const BINDINGS = {
  JSONRPC: {
    blocking: (path, kind) => ({ path, ...jsonRpc('SendMessage', message(kind)) }),
    stream: (path) => ({ path, ...jsonRpc('SendStreamingMessage', message('many')) }),
  },
  'HTTP+JSON': {
    blocking: (path, kind) => ({ path: `${path}/message:send`, ...post(message(kind)) }),
    stream: (path) => ({ path: `${path}/message:stream`, ...post(message('many')) }),
  },
};

function post(body) {
  return { method: 'POST', headers, body: JSON.stringify(body) };
}

function jsonRpc(method, params) {
  return post({ jsonrpc: '2.0', id: sent, method, params });
}

async function start(kind) {
  const server = await startA2aServer(kind);
  const card = await (await fetch(`${server.url}/.well-known/agent-card.json`, { headers })).json();
  const paths = card.supportedInterfaces.map(({ protocolBinding, url }) => [protocolBinding, new URL(url).pathname]);
  return { ...server, paths: Object.fromEntries(paths) };
}

/** A wrong answer is quickly given: one is looked at before many are counted. */
async function ensureRight(server, make, isRight) {
  const { path, ...init } = make();
  const text = await (await fetch(server.url + path, init)).text();
  if (!isRight(text)) throw new Error(`${server.url}${path} does not answer as it should: ${text.slice(0, 500)}`);
}

async function compare(servers, { operation, binding, make, isRight, wanted, seconds, repeat, connections }) {
  const rows = [];
  for (const [name, server] of Object.entries(servers)) {
    const makeFor = () => make(server.paths[binding]);
    await ensureRight(server, makeFor, isRight);
    await load({ ...server, make: makeFor, seconds: 1, connections });
    rows.push([name, () => load({ ...server, make: makeFor, seconds, connections })]);
  }
  const { ours, bare } = await alternate(rows, repeat);
  print({
    operation,
    binding,
    ours,
    peer: 'bare @a2a-js/sdk',
    theirs: bare,
    ratio: round(bare.cpu_us / ours.cpu_us, 2),
    rate_ratio: round(ours.rps / bare.rps, 2),
    ...(wanted === undefined ? {} : { wanted }),
  });
}

async function againstBare(options) {
  const servers = { ours: await start('ours'), bare: await start('bare') };
  const countOf = (text) => text.split('\n').filter((line) => line.startsWith('data:')).length;
  for (const [binding, { blocking, stream }] of Object.entries(BINDINGS)) {
    for (const kind of ['message', 'task']) {
      await compare(servers, {
        ...options,
        operation: `blocking send, answered by a ${kind}`,
        binding,
        make: (path) => blocking(path, kind),
        isRight: (text) => text.includes(kind === 'task' ? 'TASK_STATE_COMPLETED' : 'ROLE_AGENT'),
        wanted: 0.9,
      });
    }
    await compare(servers, {
      ...options,
      operation: `stream of ${STREAM_EVENTS} events`,
      binding,
      make: stream,
      isRight: (text) => countOf(text) === STREAM_EVENTS && text.includes('TASK_STATE_COMPLETED'),
    });
  }
  for (const server of Object.values(servers)) await server.stop();
}

function residentBytes(pid) {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1_024;
}

async function manyStreams(count) {
  const server = await start('ours');
  const url = server.url + server.paths.JSONRPC;
  const signal = AbortSignal.timeout(STREAMS_TAKE_AT_MOST_MS);
  const open = (kind) => {
    const { body } = jsonRpc('SendStreamingMessage', message(kind));
    return readStream({ url, body, signal });
  };
  // Compiled code and the first connections are no part of what a stream takes.
  await Promise.all(Array.from({ length: 20 }, () => open('held-20')));
  const before = { heap: await liveHeapBytes(server.inspect), resident: residentBytes(server.pid) };
  let peak = before.resident;
  const watch = setInterval(() => {
    peak = Math.max(peak, residentBytes(server.pid));
  }, 20);
  const started = performance.now();
  const streams = [];
  for (let at = 0; at < count; at += 1) {
    streams.push(open(`held-${count}`));
    if (at % OPEN_PER_TICK === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const ended = await Promise.allSettled(streams);
  clearInterval(watch);
  const seconds = (performance.now() - started) / 1_000;
  const faults = ended.map(({ value, reason }) => (value === undefined ? String(reason) : faultOf(value, HELD_EVENTS)));
  const after = { heap: await liveHeapBytes(server.inspect), resident: residentBytes(server.pid) };
  await server.stop();
  const mib = (bytes) => round(bytes / 1_048_576, 1);
  print({
    operation: `${count} streams at once, ${HELD_EVENTS} events each`,
    binding: 'JSONRPC',
    complete_and_in_order: faults.filter((fault) => fault === undefined).length,
    ...(faults.some((fault) => fault !== undefined)
      ? { first_fault: faults.find((fault) => fault !== undefined) }
      : {}),
    wanted: count,
    events_per_s: Math.round((count * HELD_EVENTS) / seconds),
    seconds: round(seconds, 1),
    resident_mib: { before: mib(before.resident), peak: mib(peak), after: mib(after.resident) },
    live_heap_mib: { before: mib(before.heap), after: mib(after.heap) },
    peak_kib_per_stream: round((peak - before.resident) / 1_024 / count, 1),
    heap_kept_kib_per_task: round((after.heap - before.heap) / 1_024 / count, 1),
  });
  return faults.every((fault) => fault === undefined);
}

export async function a2a(args) {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '3' },
      repeat: { type: 'string', default: '3' },
      connections: { type: 'string', default: '16' },
      streams: { type: 'string', default: '1000' },
    },
  });
  const { seconds, repeat, connections, streams } = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Number(value)]),
  );
  try {
    await againstBare({ seconds, repeat, connections });
    if (!(await manyStreams(streams))) process.exitCode = 1;
  } finally {
    await stopAll();
  }
}
