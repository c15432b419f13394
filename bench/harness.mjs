// The harness against itself, a bare loop of write + fdatasync, and (--peer FOLDER, a folder with bench.py and the peer
// installed beside it) the reference implementation, all in one run and in alternation. One JSON line per figure;
// `ratio` is ours to the peer's: cost by processor time, rates by turns per second.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { journalAppend } from './harness/journal-append.mjs';

const run = promisify(execFile);
const WORKER = fileURLToPath(new URL('./harness-worker.mjs', import.meta.url));
const OURS = [process.execPath, WORKER];

const round = (value, digits = 2) => Number(value.toFixed(digits));
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

function print(figure) {
  console.log(JSON.stringify({ bench: 'harness', ...figure }));
}

async function once([program, ...args], workload, params) {
  const started = performance.now();
  const { stdout } = await run(program, [...args, workload, ...params], { timeout: 900_000, maxBuffer: 1 << 24 });
  const { result } = JSON.parse(stdout.trim().split('\n').at(-1));
  return { wall_ms: performance.now() - started, ...result };
}

/** The median of every number that a workload gives, each side in turn so that drift hits both alike. */
async function measure(peers, repeat, workload, ...params) {
  const runs = Object.fromEntries(Object.keys(peers).map((name) => [name, []]));
  for (let at = 0; at < repeat; at += 1) {
    for (const [name, command] of Object.entries(peers)) runs[name].push(await once(command, workload, params));
  }
  return Object.fromEntries(
    Object.entries(runs).map(([name, results]) => [
      name,
      Object.fromEntries(Object.keys(results[0]).map((key) => [key, median(results.map((result) => result[key]))])),
    ]),
  );
}

export async function bench(args) {
  const { values } = parseArgs({
    args,
    options: { peer: { type: 'string' }, repeat: { type: 'string', default: '3' } },
  });
  const repeat = Number(values.repeat);
  const peers = { ours: OURS };
  if (values.peer !== undefined) {
    const python = join(values.peer, '.venv-0.6.0', 'bin', 'python');
    if (!existsSync(python)) throw new Error(`${python} is missing: run setup.sh in the peer's folder first`);
    peers.theirs = [python, '-B', join(values.peer, 'worker_060.py')];
  }
  const compare = async (what, wanted, key, higherIsBetter, workload, ...params) => {
    const { ours, theirs } = await measure(peers, repeat, workload, ...params);
    print({
      what,
      params: params.join(' '),
      unit: key,
      ours: round(ours[key], 1),
      ...(theirs === undefined
        ? {}
        : {
            theirs: round(theirs[key], 1),
            ratio: round(ours[key] / theirs[key], 3),
            wanted: higherIsBetter ? `>= ${wanted}` : `<= ${wanted}`,
          }),
    });
    return ours;
  };

  await compare('run without tools', 0.5, 'cpu_us_per_run', false, 'plain', 'n=200');
  const at10 = await compare('tool turn, 10 messages', 0.5, 'cpu_us_per_turn', false, 'history', 'n=50', 'h=10');
  await compare('tool turn, 100 messages', 0.3, 'cpu_us_per_turn', false, 'history', 'n=50', 'h=100');
  const at1000 = await compare('tool turn, 1,000 messages', 0.1, 'cpu_us_per_turn', false, 'history', 'n=50', 'h=1000');
  print({
    what: 'tool turn, 1,000 messages to 10 messages',
    unit: 'cpu_us_per_turn',
    ours: round(at1000.cpu_us_per_turn, 1),
    itself: round(at10.cpu_us_per_turn, 1),
    ratio: round(at1000.cpu_us_per_turn / at10.cpu_us_per_turn),
    wanted: 'about 1',
  });
  const grown = await compare('one run of 1,000 turns', 0.1, 'cpu_us_per_turn', false, 'grow', 'n=1000');
  print({
    what: 'wall time of a turn within it, by messages of history',
    unit: 'us',
    ...Object.fromEntries([10, 100, 1_000, 2_000].map((size) => [`at_${size}`, round(grown[`us_at_${size}`], 1)])),
    rss_mb: round(grown.rss_mb, 1),
  });
  await compare('100 agents at once', 4, 'turns_per_s', true, 'agents', 'n=20', 'c=100');
  await compare('first answer of a new process', 1, 'wall_ms', false, 'first', 'n=1');
  await compare('resident memory after 1,000 turns', 2, 'rss_mb', false, 'grow', 'n=1000');

  await compare('journal, 50 turns, fsync', 0.1, 'us_per_turn', false, 'journal', 'n=50', 'fsync=1');
  const rates = new Map();
  for (const before of [10, 1_000, 10_000]) {
    const runs = [];
    for (let at = 0; at < repeat; at += 1) runs.push(await journalAppend({ before, count: 400 }));
    const ours = median(runs.map((figures) => figures.ours));
    rates.set(before, ours);
    print({
      what: `journal append behind ${before} records, to bare write + fdatasync of as many bytes`,
      unit: 'records/s',
      ours: round(ours, 0),
      bare: round(median(runs.map(({ bare }) => bare)), 0),
      ratio: round(median(runs.map((figures) => figures.ours / figures.bare))),
      wanted: '>= 0.6',
    });
  }
  print({
    what: 'journal append behind 10,000 records to behind 10',
    ratio: round(rates.get(10_000) / rates.get(10)),
    wanted: 'about 1',
  });
  await compare('open a session of 1,000 messages', 0.2, 'load_ms', false, 'resume', 'n=5', 'h=1000', 'fsync=1');
  await compare('one more turn in it', 0.1, 'cpu_us_per_turn', false, 'resume', 'n=5', 'h=1000', 'fsync=1');
}
