// A proxy that is killed again and again while a driver plays several turns at once, and everything that must hold in
// spite of it. Used by a test with few kills, and by `scripts/crash-proxy.mjs` with many.
import { randomUUID } from 'node:crypto';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { A2aSender, drive, PROXY, ProxyClient, verifyTrajectory } from '@parley/proxy-protocol';
import { eventually, freePort, startProcess, waitFor } from '@parley/testkit';

const MAIN = join(import.meta.dirname, '../../../services/proxy/dist/main.js');
const TOKEN = 'token-of-the-crash-driver-0123456789';
const IDS_FILE = 'ids.txt';
const READY_MS = 30_000;
/** Longer than any of its commands sleeps. */
const ORPHANS_END_MS = 5_000;
/** All turns are played to their end within it, once nobody kills any more. */
const FINISH_MS = 60_000;

/**
 * @typedef {object} CrashOptions
 * @property {string} folder Empty; the proxy's home, its state and the commands' work folder.
 * @property {number} kills
 * @property {number} [turns] Played at the same time. Default 16.
 * @property {number} [shortestMs] Least time between the driver's return after a start and the next kill. Default 20.
 * @property {number} [longestMs] Default 1,000.
 * @property {string} [main] The program; default the built proxy.
 * @property {(line: string) => void} [tell]
 *
 * @typedef {object} CrashReport
 * @property {number} kills
 * @property {number} turns Completed.
 * @property {number} records
 * @property {number} done Actions that were told as done.
 * @property {number} lost Actions that were told as lost.
 * @property {number} lostAfterTheirDeed Of these, the ones that had done what they were to do.
 * @property {number} orphans Processes of commands that lived on right after a kill, of all kills together.
 * @property {number} versions Answers of `next`, none with a lower version than the one before.
 * @property {number} slowestStartMs
 * @property {readonly string[]} faults What must not be; the first 20.
 */

/**
 * @param {CrashOptions} options
 * @returns {Promise<CrashReport>}
 */
export async function crashProxy(options) {
  return new Crash(options).run();
}

/** Ids of the living processes that work in a folder. */
export function processesIn(folder) {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/u.test(name) && readlinkSync(`/proc/${name}/cwd`) === folder;
    } catch {
      // It has ended, or only waits to be forgotten.
      return false;
    }
  });
}

/** Notes every version that it is told. */
class WatchedClient extends ProxyClient {
  version = 0;
  answers = 0;
  onFault;

  async next(after, options) {
    const answer = await super.next(after, options);
    this.answers += 1;
    if (answer.version < this.version) this.onFault(`version ${answer.version} came after ${this.version}`);
    this.version = answer.version;
    return answer;
  }
}

class Crash {
  #options;
  #faults = [];
  #url = '';
  #port = 0;
  #proxy;
  #client;
  #sender;
  #sending = true;
  #stopped = new AbortController();
  /** Ids of calls and of actions, by task, in the order in which they were recorded. */
  #played = new Map();
  #counts = { kills: 0, turns: 0, records: 0, done: 0, lost: 0, orphans: 0, slowestStartMs: 0 };
  #outcomes = new Map();

  constructor({ turns = 16, shortestMs = 20, longestMs = 1_000, main = MAIN, tell = () => undefined, ...options }) {
    this.#options = { ...options, turns, shortestMs, longestMs, main, tell };
  }

  async run() {
    this.#port = await freePort();
    this.#url = `http://127.0.0.1:${this.#port}`;
    const http = { url: this.#url, attempts: 2, retryMs: 50 };
    this.#client = new WatchedClient({ ...http, token: TOKEN });
    this.#client.onFault = (fault) => this.#fault(fault);
    this.#sender = new A2aSender(http);
    try {
      await this.#start();
      const driving = this.#drive();
      const lanes = Promise.all(Array.from({ length: this.#options.turns }, (_, lane) => this.#send(lane)));
      // Whoever fails is heard when everything has been asked to end.
      for (const work of [driving, lanes]) work.catch(() => undefined);
      await this.#kill();
      this.#sending = false;
      await within(FINISH_MS, lanes, 'the turns to be played to their end');
      await this.#checkAll();
      this.#stopped.abort();
      await within(FINISH_MS, driving, 'the driver to stop');
      await this.#end();
    } finally {
      this.#stopped.abort();
      await Promise.all([this.#client.close(), this.#sender.close()]);
      await this.#proxy?.stop({ graceMs: 0 });
    }
    return this.#report();
  }

  async #start() {
    const { folder, main } = this.#options;
    const startedAt = performance.now();
    this.#proxy = await startProcess({
      command: process.execPath,
      args: [main],
      cwd: folder,
      env: {
        HOME: folder,
        A2A_HOST: '127.0.0.1',
        A2A_PORT: String(this.#port),
        PROXY_STATE_DIR: join(folder, 'state'),
        PROXY_LONG_POLL_SECONDS: '2',
        PROXY_MAX_TASKS: '100000',
        PROXY_DRAIN_DELAY_MS: '0',
        PROXY_LOG_FORMAT: 'text',
      },
      readyWhen: /Proxy listens on http/u,
      readyTimeoutMs: READY_MS,
    });
    this.#counts.slowestStartMs = Math.max(this.#counts.slowestStartMs, Math.round(performance.now() - startedAt));
  }

  async #kill() {
    const { kills, shortestMs, longestMs, folder, tell } = this.#options;
    for (let at = 0; at < kills; at += 1) {
      const { answers } = this.#client;
      await waitFor(() => this.#client.answers > answers, { timeoutMs: READY_MS, what: 'the driver to come back' });
      await sleep(shortestMs + Math.random() * (longestMs - shortestMs));
      this.#proxy.kill('SIGKILL');
      const { signal } = await this.#proxy.exited;
      if (signal !== 'SIGKILL') this.#fault(`the proxy ended before its kill: ${this.#proxy.output().slice(-500)}`);
      this.#counts.orphans += processesIn(folder).length;
      this.#counts.kills += 1;
      await this.#start();
      const { turns, done, lost } = this.#counts;
      tell(`kill ${this.#counts.kills}: ${turns} turns completed, ${done} actions done, ${lost} lost`);
    }
  }

  /** One turn after the other, in a context of its own. */
  async #send(lane) {
    do {
      const messageId = randomUUID();
      const ask = { messageId, contextId: `lane-${lane}`, signal: this.#stopped.signal };
      // The same message again is the same task, so that one whose answer was lost is not sent twice.
      const sent = await this.#patiently(() => this.#sender.send(`a message of lane ${lane}`, ask));
      const ended = await this.#sender.ended(sent.id, { signal: this.#stopped.signal, pollMs: 150 });
      if (ended.state === 'completed') this.#counts.turns += 1;
      else this.#fault(`task ${sent.id} is ${ended.state}: ${ended.texts.join(' ')}`);
      if (ended.state === 'completed' && ended.texts.at(-1) !== answerOf(sent.id)) {
        this.#fault(`task ${sent.id} was answered with ${ended.texts.join(' ')}`);
      }
      await this.#check(sent.id);
    } while (this.#sending);
  }

  async #drive() {
    await drive({
      client: this.#client,
      play: (turn) => this.#play(turn),
      signal: this.#stopped.signal,
      maxConcurrentTurns: this.#options.turns,
      random: () => 0,
    });
  }

  async #play(turn) {
    const { taskId } = turn.turn;
    const played = [];
    if (this.#played.has(taskId)) this.#fault(`task ${taskId} was opened twice`);
    this.#played.set(taskId, played);
    const rounds = 1 + Math.floor(Math.random() * 3);
    for (let round = 0; round < rounds; round += 1) {
      const calls = Array.from({ length: 1 + Math.floor(Math.random() * 3) }, () => newCall());
      await turn.record({ message: messageOf(calls), model: 'of-the-crash-test' });
      played.push({ ids: calls.map(({ id }) => id) });
      this.#counts.records += 1;
      await Promise.all(calls.map((call) => this.#act(turn, call)));
    }
    await turn.reply(answerOf(taskId));
  }

  async #act(turn, { id, command }) {
    const result = await turn.act({ kind: 'bash', command }, { actionId: id });
    const outcome = outcomeOf(result, id);
    this.#outcomes.set(id, outcome);
    if (outcome === 'done') this.#counts.done += 1;
    else if (outcome === 'lost') this.#counts.lost += 1;
    else this.#fault(`action ${id} ended with ${JSON.stringify(result)}`);
  }

  /** All its records and actions are there, in order, each once, as they were told. */
  async #check(taskId) {
    const events = await this.#patiently(() => this.#client.trajectory({ taskId }));
    const verified = verifyTrajectory(events);
    if (verified.outcome !== 'verified' || !verified.isClosed) {
      this.#fault(`the chain of task ${taskId}: ${JSON.stringify(verified)}`);
    }
    const wanted = this.#played.get(taskId) ?? [];
    const records = events.filter(({ name }) => name === 'chat').map(callIdsOf);
    if (JSON.stringify(records) !== JSON.stringify(wanted.map(({ ids }) => ids))) {
      this.#fault(`task ${taskId} has the records ${JSON.stringify(records)} instead of ${JSON.stringify(wanted)}`);
    }
    const actions = events.filter(({ name }) => name === 'bash').map(({ attributes }) => attributes);
    const told = actions.map((attributes) => {
      const id = attributes[PROXY.actionId];
      const hasRun = completionOf(attributes).output === `${id}\n`;
      return `${id} ${hasRun ? 'done' : attributes[PROXY.actionEnd]}`;
    });
    const known = wanted.flatMap(({ ids }) => ids).map((id) => `${id} ${this.#outcomes.get(id)}`);
    if (JSON.stringify(told.toSorted()) !== JSON.stringify(known.toSorted())) {
      this.#fault(`task ${taskId} has the actions ${told.join(', ')} instead of ${known.join(', ')}`);
    }
  }

  /** Also what was checked before: later lives read it again. */
  async #checkAll() {
    for (const taskId of this.#played.keys()) await this.#check(taskId);
  }

  async #end() {
    const { code } = await this.#proxy.stop();
    if (code !== 0) this.#fault(`the proxy ended with ${code}: ${this.#proxy.output().slice(-500)}`);
    const { folder } = this.#options;
    await eventually(
      () => {
        const left = processesIn(folder);
        if (left.length > 0) throw new Error(`${left.length} processes are left`);
      },
      { timeoutMs: ORPHANS_END_MS, what: 'the last processes to end' },
    ).catch((error) => this.#fault(error.message));
    for (const [id, times] of this.#deeds()) {
      if (times > 1) this.#fault(`action ${id} was run ${times} times`);
      if (!this.#outcomes.has(id)) this.#fault(`action ${id} was run, and nobody was told how it ended`);
    }
    for (const [id, outcome] of this.#outcomes) {
      if (outcome === 'done' && !this.#deeds().has(id)) this.#fault(`action ${id} was told as done and has not run`);
    }
  }

  #deeds() {
    this.deeds ??= readFileSync(join(this.#options.folder, IDS_FILE), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .reduce((counts, id) => counts.set(id, (counts.get(id) ?? 0) + 1), new Map());
    return this.deeds;
  }

  #report() {
    const lostAfterTheirDeed = [...this.#outcomes].filter(
      ([id, outcome]) => outcome === 'lost' && this.#deeds().has(id),
    ).length;
    return { ...this.#counts, lostAfterTheirDeed, versions: this.#client.answers, faults: this.#faults };
  }

  #fault(fault) {
    if (this.#faults.length < 20) this.#faults.push(fault);
  }

  async #patiently(call) {
    return eventually(
      async () => {
        this.#stopped.signal.throwIfAborted();
        return call();
      },
      { timeoutMs: READY_MS, intervalMs: 50, what: 'the proxy to answer' },
    );
  }
}

/** Its deed is one line in a file; the sleeps leave time to be killed before and after it. */
function newCall() {
  const id = randomUUID();
  const before = (Math.random() * 0.1).toFixed(3);
  const after = (Math.random() * 0.2).toFixed(3);
  return { id, command: `sleep ${before}; echo ${id} >> ${IDS_FILE}; sleep ${after}; echo ${id}` };
}

function messageOf(calls) {
  return {
    role: 'assistant',
    content: null,
    tool_calls: calls.map(({ id, command }) => ({
      id,
      type: 'function',
      function: { name: 'bash', arguments: JSON.stringify({ command }) },
    })),
  };
}

function answerOf(taskId) {
  return `answer to ${taskId}`;
}

function outcomeOf(result, id) {
  if (result.exitCode === 0 && result.stdout === `${id}\n`) return 'done';
  const { exitCode, stderr } = result;
  return exitCode === -9 && stderr.includes('the proxy was stopped while it ran') ? 'lost' : undefined;
}

function completionOf(attributes) {
  return JSON.parse(attributes['gen_ai.completion']);
}

function callIdsOf({ attributes }) {
  return completionOf(attributes)
    .content.filter(({ type }) => type === 'tool_use')
    .map(({ id }) => id);
}

async function within(ms, work, what) {
  const late = new AbortController();
  const timer = sleep(ms, undefined, { signal: late.signal }).then(
    () => Promise.reject(new Error(`waited ${ms} ms for ${what}`)),
    () => undefined,
  );
  try {
    await Promise.race([work, timer]);
  } finally {
    late.abort();
  }
}
