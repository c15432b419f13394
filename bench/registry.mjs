// Discover, register, renew and negotiate against bare node:http, raw Redis, and (--peer FOLDER) the FastAPI reference.
// One JSON line per figure; `ratio` is ours to the peer's by the server's processor time per request, `rate_ratio` by requests per second.
import { parseArgs } from 'node:util';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { manifests, questions } from './lib/data.mjs';
import { liveHeapBytes } from './lib/heap.mjs';
import { alternate, load, round } from './lib/load.mjs';
import { redisRegister } from './lib/redis-register.mjs';
import { startAgentB, startBare, startRedis, startReference, startRegistry, stopAll } from './lib/servers.mjs';

const json = { 'content-type': 'application/json' };
const QUESTIONS = 2_000;

function print(figure) {
  console.log(JSON.stringify({ bench: 'registry', ...figure }));
}

function compared(operation, agents, ours, peerName, peer, wanted) {
  print({
    agents,
    operation,
    ours,
    peer: peerName,
    theirs: peer,
    ratio: round(peer.cpu_us / ours.cpu_us, 2),
    rate_ratio: round(ours.rps / peer.rps, 2),
    ...(wanted === undefined ? {} : { wanted }),
  });
}

async function fill(url, from, to, tokens) {
  const source = manifests(from, to);
  const started = performance.now();
  const worker = async () => {
    for (const manifest of source) {
      const response = await fetch(`${url}/register`, {
        method: 'POST',
        headers: json,
        body: JSON.stringify(manifest),
      });
      const body = await response.json();
      if (!response.ok) throw new Error(`${url}: a registration failed: ${JSON.stringify(body)}`);
      if (tokens !== undefined && body.owner_token !== undefined) tokens.set(manifest.agent_id, body.owner_token);
    }
  };
  await Promise.all(Array.from({ length: 32 }, worker));
  return (to - from) / ((performance.now() - started) / 1_000);
}

/** The reference answers without leases, so its bytes are fewer; each peer answers its own. */
async function answersOf(url, paths) {
  const answers = {};
  for (const path of paths) answers[path] ??= await (await fetch(url + path)).text();
  return answers;
}

function manifestBytes(from, to) {
  let bytes = 0;
  for (const manifest of manifests(from, to)) bytes += Buffer.byteLength(JSON.stringify(manifest));
  return bytes;
}

async function atSize({ registry, reference, agents, from, tokens, options, heapEmpty }) {
  await fill(registry.url, from, agents, tokens);
  if (reference !== undefined) await fill(reference.url, from, agents);
  const paths = questions(QUESTIONS);
  const answers = await answersOf(registry.url, paths);
  const bare = await startBare(answers);
  const { seconds, repeat } = options;
  const ask = (server) => () => load({ ...server, seconds, make: (i) => ({ path: paths[i % paths.length] }) });
  const rows = [
    ['ours', ask(registry)],
    ['bare', ask(bare)],
  ];
  // One answer of the reference may take a tenth of a second: fewer connections, so that the abandoned ones are few.
  if (reference !== undefined)
    rows.push([
      'fastapi',
      () => load({ ...reference, seconds, connections: 4, make: (i) => ({ path: paths[i % paths.length] }) }),
    ]);
  const got = await alternate(rows, repeat);
  compared('discover, 2 capabilities, 20 answers', agents, got.ours, 'bare node:http, same bytes', got.bare, 0.6);
  if (got.fastapi !== undefined)
    compared(
      'discover, 2 capabilities, 20 answers',
      agents,
      got.ours,
      'FastAPI reference',
      got.fastapi,
      agents === 10_000 ? 20 : undefined,
    );
  await bare.stop();
  const ids = [...tokens.keys()];
  const renewal = (i) => {
    const id = ids[(i * 7_919) % ids.length];
    return { method: 'PUT', path: `/agents/${id}/lease`, headers: { authorization: `Bearer ${tokens.get(id)}` } };
  };
  print({ agents, operation: 'renew', ours: await load({ ...registry, seconds, make: renewal }) });
  const heap = await liveHeapBytes(registry.inspect);
  const perAgent = (heap - heapEmpty - manifestBytes(0, agents)) / agents;
  print({
    agents,
    operation: 'memory per agent beyond its manifest',
    kib: round(perAgent / 1024, 2),
    wanted_at_most_kib: 1.5,
  });
  return got.ours;
}

async function registerOverHttp(registry, options, agents) {
  const source = manifests(0, 10_000_000, `new-${agents}`);
  const make = () => ({ method: 'POST', path: '/register', headers: json, body: JSON.stringify(source.next().value) });
  print({
    agents,
    operation: 'register over HTTP with Redis',
    ours: await load({ ...registry, seconds: options.seconds, make }),
  });
}

async function negotiation(registry, options) {
  const agent = await startAgentB(registry.url);
  const bare = await startBare({});
  let session = 0;
  const make = () => ({
    method: 'POST',
    path: '/negotiate',
    headers: json,
    body: JSON.stringify({
      session_id: `bench-${(session += 1)}`,
      agent_id: `caller-${session}`,
      capabilities: ['code_review'],
      parameters: { severity: 'warning' },
    }),
  });
  const got = await alternate(
    [
      ['ours', () => load({ ...agent, seconds: options.seconds, make })],
      ['bare', () => load({ ...bare, seconds: options.seconds, make })],
    ],
    options.repeat,
  );
  compared('negotiate, direct', undefined, got.ours, 'bare node:http POST echo with JSON', got.bare, 0.5);
  await agent.stop();
  await bare.stop();
}

export async function run(args) {
  const { values } = parseArgs({
    args,
    options: {
      sizes: { type: 'string', default: '1000,10000,100000' },
      seconds: { type: 'string', default: '3' },
      repeat: { type: 'string', default: '3' },
      peer: { type: 'string' },
    },
  });
  const sizes = values.sizes.split(',').map(Number);
  const options = { seconds: Number(values.seconds), repeat: Number(values.repeat) };
  const ensureRedis = fileURLToPath(new URL('../scripts/ensure-redis.mjs', import.meta.url));
  const binary = execFileSync(process.execPath, [ensureRedis], { encoding: 'utf8' }).trim().split('\n').at(-1);
  try {
    const redis = await startRedis(binary);
    const registry = await startRegistry({ REDIS_URL: redis.url });
    const reference = await startReference(values.peer);
    const heapEmpty = await liveHeapBytes(registry.inspect);
    const tokens = new Map();
    const discover = new Map();
    let from = 0;
    for (const agents of sizes) {
      discover.set(agents, await atSize({ registry, reference, agents, from, tokens, options, heapEmpty }));
      from = agents;
    }
    const [smallest, largest] = [sizes[0], sizes.at(-1)];
    print({
      operation: 'discover at the largest size against the smallest',
      agents: [largest, smallest],
      ratio: round(discover.get(smallest).cpu_us / discover.get(largest).cpu_us, 2),
      wanted: 1,
    });
    await registerOverHttp(registry, options, largest);
    await negotiation(registry, options);
    await registry.stop();
    for (const figure of await redisRegister(redis.url, options)) print(figure);
  } finally {
    await stopAll();
  }
}
