import { randomBytes, randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { cpuSeconds, round } from '../lib/load.mjs';

const TOKEN = 'token-of-the-benchmark-0123456789';
const LONG_POLL_MS = 60_000;

/** One proxy as its driver and its sender see it, over one kept connection for each lane. */
export class ProxyLanes {
  #pool;
  #pid;
  /** Their tasks; each lane plays one turn. */
  tasks = [];

  constructor({ url, pid }) {
    this.#pid = pid;
    this.#pool = new Pool(url, {
      connections: 64,
      pipelining: 1,
      headersTimeout: LONG_POLL_MS,
      bodyTimeout: LONG_POLL_MS,
    });
  }

  async post(path, body) {
    const answer = await this.#pool.request({
      method: 'POST',
      path,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}: ${text.slice(0, 200)}`);
    return JSON.parse(text);
  }

  drive(operation, fields) {
    return this.post(`/ext/proxy/${operation}`, { token: TOKEN, ...fields });
  }

  async send(text = 'a message') {
    const message = { kind: 'message', role: 'user', messageId: randomUUID(), parts: [{ kind: 'text', text }] };
    const params = { message, configuration: { blocking: false } };
    const { result, error } = await this.post('/a2a', { jsonrpc: '2.0', id: 1, method: 'message/send', params });
    if (error !== undefined) throw new Error(`message/send: ${error.message}`);
    return result.id;
  }

  /** Sends a message and waits until the driver sees the turn. */
  async open() {
    const task = await this.send();
    await this.#seen(task, this.drive('next', { after: 0 }));
    return task;
  }

  async #seen(task, asked) {
    for (let waiting = asked; ;) {
      const { version, turns } = await waiting;
      if (turns.some(({ task_id: id }) => id === task)) return;
      waiting = this.drive('next', { after: version });
    }
  }

  reply(task) {
    return this.drive('reply', { task_id: task, parts: [{ kind: 'text', text: 'ok' }] });
  }

  async openTurns(count) {
    this.tasks = [];
    for (let lane = 0; lane < count; lane += 1) this.tasks.push(await this.open());
  }

  async endTurns() {
    for (const task of this.tasks.splice(0)) await this.reply(task);
  }

  async bash(lane, command) {
    const answer = await this.#act(lane, { kind: 'bash', command });
    if (!answer.done || answer.result.exit_code !== 0) throw new Error(`bash: ${JSON.stringify(answer).slice(0, 200)}`);
    return answer;
  }

  async tool(lane) {
    const action = { kind: 'tool', server: 'env', name: 'add', arguments: { a: 1, b: 2 } };
    const answer = await this.#act(lane, action);
    if (!answer.done || answer.result.is_error) throw new Error(`tool: ${JSON.stringify(answer).slice(0, 200)}`);
  }

  async recordAndTool(lane) {
    const call = { id: 'c', type: 'function', function: { name: 'add', arguments: '{"a": 1, "b": 2}' } };
    await this.drive('record', { task_id: this.tasks[lane], message: { role: 'assistant', tool_calls: [call] } });
    await this.tool(lane);
  }

  #act(lane, action) {
    return this.drive('act', { task_id: this.tasks[lane], action_id: randomBytes(8).toString('hex'), action });
  }

  /** `count` calls at most in each lane, one after the other, for a bounded time. */
  async rate({ call, lanes, count, seconds }) {
    const until = performance.now() + seconds * 1_000;
    const spent = [];
    const cpu = cpuSeconds(this.#pid);
    const lane = async (index) => {
      for (let at = 0; at < count && performance.now() < until; at += 1) {
        const started = performance.now();
        await call(this, index);
        spent.push(performance.now() - started);
      }
    };
    const started = performance.now();
    await Promise.all(Array.from({ length: lanes }, (_, index) => lane(index)));
    const took = performance.now() - started;
    spent.sort((a, b) => a - b);
    return {
      per_s: round((spent.length * 1_000) / took, 1),
      p50_ms: round(spent[Math.floor(spent.length * 0.5)], 2),
      p99_ms: round(spent[Math.floor(spent.length * 0.99)], 2),
      cpu_us: round(((cpuSeconds(this.#pid) - cpu) * 1e6) / spent.length, 0),
      calls: spent.length,
    };
  }

  /** From the sending of a message until a waiting `next` has answered, in milliseconds. */
  async wakeUps(count) {
    const spent = [];
    for (let at = 0; at < count; at += 1) {
      const { version } = await this.drive('next', { after: 0 });
      const waiting = this.drive('next', { after: version });
      await new Promise((resolve) => setTimeout(resolve, 50));
      const started = performance.now();
      const task = await this.send();
      await this.#seen(task, waiting);
      spent.push(performance.now() - started);
      await this.reply(task);
    }
    spent.sort((a, b) => a - b);
    return { p50_ms: round(spent[Math.floor(count / 2)], 2), max_ms: round(spent.at(-1), 2) };
  }

  close() {
    return this.#pool.destroy();
  }
}
