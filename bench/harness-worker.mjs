// One measured piece of work in a process of its own: `node bench/harness-worker.mjs WORKLOAD n=.. [h=..] [c=..] [fsync=0|1]`
// (after a build). Prints one JSON line {"impl", "workload", "params", "result"}. The model answers at once with one call of
// a tool that does nothing for n turns, then with text; a sink counts events. us_* is wall time, cpu_us_* processor time.
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, JsonlSessionStorage, MethodToolHandler, openSession } from '@parley/harness';
import { journalLines } from './harness/journal-lines.mjs';

const NOOP = {
  name: 'noop',
  description: 'does nothing',
  effect: 'side_effecting',
  parameters: { type: 'object', properties: { i: { type: 'integer' } } },
};
const USAGE = {
  inputTokens: 100,
  outputTokens: 10,
  totalTokens: 110,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  reasoningTokens: null,
};

class Noop extends MethodToolHandler {
  constructor() {
    super([NOOP]);
  }

  async doNoop() {
    return 'ok';
  }
}

/** Stamps every request, so that the time of a turn is known by the length of the history. */
class Stub {
  name = 'stub';
  stamps = [];
  sizes = [];
  #turn = 0;

  constructor(turns) {
    this.turns = turns;
  }

  async *stream(request) {
    this.stamps.push(performance.now());
    this.sizes.push(request.messages.length);
    this.#turn += 1;
    const working = this.#turn <= this.turns;
    const toolCalls = working ? [{ id: `call_${this.#turn}`, name: 'noop', arguments: `{"i": ${this.#turn}}` }] : [];
    if (!working) this.#turn = 0;
    yield {
      type: 'completed',
      response: {
        message: { role: 'assistant', content: working ? 'working' : 'done', toolCalls },
        usage: USAGE,
        finishReason: working ? 'tool_calls' : 'stop',
      },
    };
  }
}

class Counter {
  count = 0;

  emit() {
    this.count += 1;
  }
}

function make(turns, session) {
  const model = new Stub(turns);
  const agent = new Agent(model, {
    agentId: 'bench',
    handlers: [new Noop()],
    sinks: [new Counter()],
    runtimePolicy: { maxSteps: turns + 2 },
    ...(session === undefined ? {} : { session }),
  });
  return { agent, model };
}

async function play(agent, task = 'go') {
  const result = await agent.run(task);
  if (result.status !== 'completed') throw new Error(`the run did not complete: ${JSON.stringify(result)}`);
  return result;
}

function clock() {
  const cpu = process.cpuUsage();
  const started = performance.now();
  return (unit, count) => {
    const wallMs = performance.now() - started;
    const { user, system } = process.cpuUsage(cpu);
    return {
      [`us_per_${unit}`]: (wallMs * 1e3) / count,
      [`cpu_us_per_${unit}`]: (user + system) / count,
      total_ms: wallMs,
    };
  };
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** The median time of a turn near 10, 100, 1,000 and 2,000 messages. */
function windows({ stamps, sizes }) {
  const found = {};
  for (const want of [10, 100, 1_000, 2_000]) {
    const near = [];
    for (let at = 0; at + 1 < stamps.length; at += 1) {
      if (Math.abs(sizes[at] - want) <= Math.max(6, want * 0.02)) near.push((stamps[at + 1] - stamps[at]) * 1e3);
    }
    if (near.length > 0 && sizes.at(-1) + 2 >= want) found[`us_at_${want}`] = median(near);
  }
  return found;
}

// The engine compiles what runs often: figures are those of a process that has been at work for a while.
const WARM_UP_TURNS = 2_000;

const warmUp = () => play(make(WARM_UP_TURNS).agent, 'warm up');

async function inFolder(work) {
  const folder = await mkdtemp(join(process.env.BENCH_TMP ?? tmpdir(), 'harness-bench-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const WORKLOADS = {
  async first() {
    await play(make(1).agent);
    return {};
  },

  async plain({ n }) {
    await warmUp();
    const { agent } = make(0);
    await agent.start();
    const stop = clock();
    for (let at = 0; at < n; at += 1) {
      if (at % 10 === 0) agent.reset();
      await play(agent, 'hi');
    }
    return stop('run', n);
  },

  async history({ n, h = 100 }) {
    await warmUp();
    const { agent } = make(n);
    agent.reset(
      Array.from({ length: h }, (_, at) => {
        const content = `message number ${at} ${'x'.repeat(80)}`;
        return at % 2 === 0 ? { role: 'user', content } : { role: 'assistant', content, toolCalls: [] };
      }),
    );
    await agent.start();
    const stop = clock();
    await play(agent);
    return stop('turn', n + 1);
  },

  async grow({ n }) {
    const { agent, model } = make(n);
    const stop = clock();
    const { turns } = await play(agent);
    const times = stop('turn', n + 1);
    if (turns !== n + 1) throw new Error(`${turns} turns instead of ${n + 1}`);
    return { ...windows(model), ...times };
  },

  async agents({ n, c = 100 }) {
    const made = Array.from({ length: c }, () => make(n).agent);
    const started = performance.now();
    await Promise.all(made.map((agent) => play(agent)));
    return { turns_per_s: (c * (n + 1)) / ((performance.now() - started) / 1e3) };
  },

  journal: ({ n, fsync = 1 }) =>
    inFolder(async (folder) => {
      const storage = new JsonlSessionStorage(folder, { fsync: fsync === 1 });
      const { journal } = await openSession({ storage, sessionId: 's', agentId: 'bench' });
      const { agent, model } = make(n, journal);
      const stop = clock();
      await play(agent);
      const times = stop('turn', n + 1);
      await storage.close();
      const [name] = (await readdir(folder)).filter((file) => file.endsWith('.jsonl'));
      const bytes = await readFile(join(folder, name));
      return { records: bytes.toString().split('\n').length - 1, bytes: bytes.length, ...windows(model), ...times };
    }),

  async resume({ n, h = 100, fsync = 1 }) {
    await warmUp();
    return inFolder(async (folder) => {
      const { file, text } = journalLines({ sessionId: 's', agentId: 'bench', messages: h });
      await writeFile(join(folder, file), text);
      const storage = new JsonlSessionStorage(folder, { fsync: fsync === 1 });
      const started = performance.now();
      const { journal, session } = await openSession({ storage, sessionId: 's', agentId: 'bench' });
      const { agent } = make(n, journal);
      agent.restore(session);
      const load_ms = performance.now() - started;
      const stop = clock();
      await play(agent, 'go on');
      const times = stop('turn', n + 1);
      const after = await storage.load('s');
      if (after.runs.length !== 2) throw new Error(`${after.runs.length} runs in the journal instead of 2`);
      await storage.close();
      return { load_ms, ...times };
    });
  },
};

const [workload, ...args] = process.argv.slice(2);
const params = Object.fromEntries(
  args.map((arg) => {
    const [key, value] = arg.split('=');
    return [key, Number(value)];
  }),
);
const work = WORKLOADS[workload];
if (work === undefined) {
  console.error(`There is no workload called ${workload}. There are ${Object.keys(WORKLOADS).join(', ')}.`);
  process.exit(2);
}
const result = await work(params);
result.rss_mb = process.resourceUsage().maxRSS / 1024;
console.log(JSON.stringify({ impl: 'parley harness', workload, params, result }));
