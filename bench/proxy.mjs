// The proxy, with all in memory and with its journal, against (--peer FOLDER, with the reference in its .venv) the
// reference implementation: all in one run and in alternation. One JSON line per figure; `ratio` is ours, without the
// journal as the peer is, to the peer's.
import { parseArgs } from 'node:util';
import { alternate, round } from './lib/load.mjs';
import { stopAll } from './lib/servers.mjs';
import { ProxyLanes } from './proxy/proxy-lanes.mjs';
import { removeFolders, residentMib, startEnvServer, startPeer, startProxy } from './proxy/servers.mjs';

const TURNS = 16;
const OUTPUT_MB = 50;

function print(figure) {
  console.log(JSON.stringify({ bench: 'proxy', ...figure }));
}

const bash = (lanes, lane) => lanes.bash(lane, 'true');
const tool = (lanes, lane) => lanes.tool(lane);
const record = (lanes, lane) => lanes.recordAndTool(lane);
const claim = (lanes) => lanes.drive('claim', {});
const cycle = async (lanes) => lanes.reply(await lanes.open());

/** In this order; the counts are per lane. */
const RATES = [
  { operation: 'cheapest call (claim again), sequential', call: claim, lanes: 1, count: 4_000, wanted: 2 },
  { operation: 'cheapest call (claim again), 16 at once', call: claim, lanes: TURNS, count: 1_000, wanted: 2 },
  { operation: 'turn opened, seen, ended, sequential', call: cycle, lanes: 1, count: 200 },
  { operation: 'turn opened, seen, ended, 16 at once', call: cycle, lanes: TURNS, count: 30 },
  { operation: 'act bash true, sequential', call: bash, lanes: 1, count: 500, needsTurns: true, wanted: 5 },
  { operation: 'act bash true, 16 turns at once', call: bash, lanes: TURNS, count: 150, needsTurns: true, wanted: 3 },
  { operation: 'act tool, sequential', call: tool, lanes: 1, count: 1_000, needsTurns: true, wanted: 2 },
  { operation: 'act tool, 16 turns at once', call: tool, lanes: TURNS, count: 200, needsTurns: true, wanted: 2 },
  { operation: 'record + act tool, sequential', call: record, lanes: 1, count: 300, needsTurns: true },
  { operation: 'record + act tool, 16 turns at once', call: record, lanes: TURNS, count: 60, needsTurns: true },
];

async function rates(peers, { repeat, seconds }) {
  for (const { operation, call, lanes, count, needsTurns = false, wanted } of RATES) {
    const measure = (peer) => async () => {
      if (needsTurns) await peer.lanes.openTurns(lanes);
      const figures = await peer.lanes.rate({ call, lanes, count, seconds });
      await peer.lanes.endTurns();
      return figures;
    };
    const got = await alternate(
      Object.entries(peers).map(([name, peer]) => [name, measure(peer)]),
      repeat,
    );
    const ratio = got.theirs && { ratio: round(got.ours.per_s / got.theirs.per_s, 2) };
    print({ operation, ...got, ...ratio, ...(wanted && { wanted: `>= ${wanted}` }) });
  }
}

/** Compiled code and first connections are no part of what a call takes. */
async function warmUp(peers) {
  for (const { lanes } of Object.values(peers)) {
    await lanes.openTurns(TURNS);
    await lanes.rate({ call: claim, lanes: TURNS, count: 200, seconds: 10 });
    for (const call of [bash, record]) await lanes.rate({ call, lanes: TURNS, count: 10, seconds: 10 });
    await lanes.endTurns();
  }
}

async function wakeUps(peers, repeat) {
  const got = await alternate(
    Object.entries(peers).map(([name, { lanes }]) => [name, () => lanes.wakeUps(20)]),
    repeat,
  );
  const ratio = got.theirs && { ratio: round(got.theirs.p50_ms / got.ours.p50_ms, 2) };
  print({ operation: 'send until a waiting next has answered', ...got, ...ratio });
}

function memory(peers, operation, wanted) {
  const got = Object.fromEntries(Object.entries(peers).map(([name, { pid }]) => [name, round(residentMib(pid), 1)]));
  const ratio = got.theirs && { ratio: round(got.ours / got.theirs, 2) };
  print({ operation, unit: 'MiB resident', ...got, ...ratio, ...(wanted && { wanted }) });
}

async function acts(peers) {
  for (const { lanes } of Object.values(peers)) {
    await lanes.openTurns(TURNS);
    for (const call of [bash, tool]) await lanes.rate({ call, lanes: TURNS, count: 220, seconds: 120 });
  }
  memory(peers, 'memory with 16 turns open, after 7,000 acts of these');
  for (const { lanes } of Object.values(peers)) await lanes.endTurns();
}

async function bigOutput(peers) {
  const seconds = {};
  for (const [name, { lanes }] of Object.entries(peers)) {
    await lanes.openTurns(1);
    const started = performance.now();
    await lanes.bash(0, `head -c ${OUTPUT_MB}000000 /dev/zero | tr '\\0' x`);
    seconds[name] = round((performance.now() - started) / 1_000, 2);
    await lanes.endTurns();
  }
  print({ operation: `act bash with ${OUTPUT_MB} MB of output`, unit: 's', ...seconds });
  memory(peers, `memory after ${OUTPUT_MB} MB of output`, "at most the peer's");
}

export async function proxy(args) {
  const { values } = parseArgs({
    args,
    options: {
      peer: { type: 'string' },
      repeat: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '5' },
    },
  });
  const options = { repeat: Number(values.repeat), seconds: Number(values.seconds) };
  const peers = {};
  try {
    const env = await startEnvServer();
    const servers = {
      ours: () => startProxy(),
      with_journal: () => startProxy({ hasJournal: true }),
      ...(values.peer !== undefined && { theirs: () => startPeer(values.peer) }),
    };
    for (const [name, start] of Object.entries(servers)) {
      const server = await start();
      peers[name] = { ...server, lanes: new ProxyLanes(server) };
      await peers[name].lanes.drive('claim', {});
    }
    // What starting left behind is given back by then.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    memory(peers, 'memory, idle', "at most the peer's");
    for (const { lanes } of Object.values(peers)) await lanes.post('/ext/mcp-config', { url: env, name: 'env' });
    await warmUp(peers);
    await rates(peers, options);
    await wakeUps(peers, options.repeat);
    await acts(peers);
    await bigOutput(peers);
  } finally {
    await Promise.all(Object.values(peers).map(({ lanes }) => lanes.close()));
    await stopAll();
    removeFolders();
  }
}
