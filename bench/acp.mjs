// Children over the Agent Client Protocol: how long until they say their first word, new and kept, beside the bare start
// of the engine that both are made of; many at once; how much memory one takes. One JSON line per figure, all sides in
// alternation; `ratio` is to the bare engine, best to best: what else the machine does hits a start hard.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Children, closeAll, memoryOf, PROGRAMS } from './acp/children.mjs';
import { cpuSeconds, round } from './lib/load.mjs';

const NAMES = Object.keys(PROGRAMS);
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const mib = (bytes) => round(bytes / 1_048_576, 1);

function print(figure) {
  console.log(JSON.stringify({ bench: 'acp', ...figure }));
}

async function bareStart() {
  const began = performance.now();
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');
  return performance.now() - began;
}

/** Until the first word, by side, each in its turn. */
async function firstWords(repeat, sides) {
  const times = Object.fromEntries(Object.keys(sides).map((name) => [name, []]));
  for (let at = 0; at < repeat; at += 1) {
    for (const [name, measure] of Object.entries(sides)) times[name].push(await measure());
  }
  return Object.fromEntries(
    Object.entries(times).map(([name, values]) => [name, { ms: median(values), best: Math.min(...values) }]),
  );
}

async function starts(repeat) {
  const cold = Object.fromEntries(NAMES.map((name) => [name, new Children(name)]));
  const warm = Object.fromEntries(
    NAMES.map((name) => [name, new Children(name, { pool: { size: 1, idleMs: 600_000 } })]),
  );
  const firstTextOf = async (children) => (await children.run()).firstTextMs;
  // What this process loads late is loaded; the kept ones are there.
  for (const name of NAMES) await Promise.all([cold[name].run(), warm[name].run()]);
  const sides = Object.fromEntries(
    NAMES.flatMap((name) => [
      [`cold ${name}`, () => firstTextOf(cold[name])],
      [`warm ${name}`, () => firstTextOf(warm[name])],
    ]),
  );
  const times = await firstWords(repeat, { 'node -e 0': bareStart, ...sides });
  for (const [what, side] of [
    ['first word of a new child', 'cold'],
    ['first word of a child that was kept', 'warm'],
  ]) {
    for (const name of NAMES) {
      const { ms, best } = times[`${side} ${name}`];
      const bare = times['node -e 0'].best;
      print({
        what,
        child: name,
        median_ms: round(ms, 1),
        best_ms: round(best, 1),
        bare_best_ms: round(bare, 1),
        ratio: round(best / bare, 2),
      });
    }
  }
  for (const name of NAMES) await Promise.all([cold[name].close(), warm[name].close()]);
}

async function atOnce(count) {
  for (const name of NAMES) {
    const children = new Children(name);
    const began = performance.now();
    const runs = await Promise.all(Array.from({ length: count }, () => children.run()));
    const seconds = (performance.now() - began) / 1_000;
    const completed = runs.filter(({ stopReason }) => stopReason === 'completed').length;
    const left = children.pids.length;
    await children.close();
    print({
      what: `${count} children at once, until all of them were gone`,
      child: name,
      seconds: round(seconds, 2),
      completed,
      wanted: count,
      processes_left: left,
    });
    if (completed < count || left > 0) process.exitCode = 1;
  }
}

function printMemory(name, pids) {
  const all = pids.map((pid) => ({ ...memoryOf(pid), cpu: cpuSeconds(pid) }));
  const mean = (key) => all.reduce((sum, one) => sum + one[key], 0) / all.length;
  print({
    what: `memory of each of ${pids.length}, after a prompt`,
    child: name,
    rss_mib: mib(mean('rss')),
    pss_mib: mib(mean('pss')),
    cpu_ms: round(mean('cpu') * 1_000, 0),
  });
}

async function memory(count) {
  const bare = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', 'setInterval(() => 0, 1e6)'], { stdio: 'ignore' }),
  );
  try {
    await delay(2_000);
    printMemory(
      'bare node',
      bare.map(({ pid }) => pid),
    );
  } finally {
    for (const child of bare) child.kill('SIGKILL');
  }
  for (const name of NAMES) {
    const children = new Children(name, { pool: { size: count, idleMs: 600_000 } });
    await Promise.all(Array.from({ length: count }, () => children.run()));
    printMemory(name, children.pids);
    await children.close();
  }
}

export async function acp(args) {
  const { values } = parseArgs({
    args,
    options: {
      repeat: { type: 'string', default: '11' },
      children: { type: 'string', default: '50' },
      held: { type: 'string', default: '8' },
    },
  });
  try {
    await starts(Number(values.repeat));
    await atOnce(Number(values.children));
    await memory(Number(values.held));
  } finally {
    await closeAll();
  }
}
