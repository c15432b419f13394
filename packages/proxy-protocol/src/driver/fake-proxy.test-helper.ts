import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const LONG_POLL_MS = 300;

interface FakeTurn {
  readonly task_id: string;
  readonly context_id: string;
  readonly parts: readonly { readonly kind: 'text'; readonly text: string }[];
  pending_calls?: readonly object[];
  actions?: readonly object[];
}

interface FakeAction {
  readonly task: string;
  state: { done: boolean; result?: object };
}

/** What a call gets instead of its answer: a status with a body, or a connection that breaks off before or after it was done. */
export type Fault = { readonly status: number; readonly body: string } | 'cut before' | 'cut after';

type Body = Readonly<Record<string, unknown>>;

/** A proxy as far as a driver sees it, which can be taken away and come back, with what it knew or without. */
export class FakeProxy {
  token: string | undefined;
  version = 0;
  turns: FakeTurn[] = [];
  readonly actions = new Map<string, FakeAction>();
  /** Model calls on record, by task. */
  readonly records = new Map<string, unknown[]>();
  readonly replies: { readonly task: string; readonly answer: string }[] = [];
  readonly calls: { readonly op: string; readonly body: Body }[] = [];
  /** Used up one by one. */
  readonly faults = new Map<string, Fault[]>();
  /** What an action gives; undefined: it runs until `finish`. */
  onAct: (action: Body) => object | undefined = () => bash('done\n');
  tellsOutput = false;
  #server: Server | undefined;
  #port = 0;
  #waiters = new Set<() => void>();
  #listeners = new Set<() => void>();

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    this.#server = createServer((request, response) => void this.#take(request, response));
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Breaks every connection. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#wake();
    if (server === undefined) return;
    this.#server = undefined;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }

  forget(): void {
    this.token = undefined;
    this.version = 0;
    this.turns = [];
    this.actions.clear();
    this.records.clear();
  }

  open(taskId: string, text = 'do it', more: Partial<FakeTurn> = {}): void {
    this.turns.push({ task_id: taskId, context_id: `c-${taskId}`, parts: [{ kind: 'text', text }], ...more });
    this.#change();
  }

  close(taskId: string): void {
    this.turns = this.turns.filter((turn) => turn.task_id !== taskId);
    for (const [id, action] of this.actions) if (action.task === taskId) this.actions.delete(id);
    this.#change();
  }

  finish(actionId: string, result: object): void {
    const action = this.actions.get(actionId);
    if (action !== undefined) action.state = { done: true, result };
    this.#wake();
  }

  fault(op: string, ...faults: Fault[]): void {
    this.faults.set(op, faults);
  }

  /** Resolves once so many calls of a kind have come. */
  async called(op: string, times = 1): Promise<void> {
    await this.until(() => this.calls.filter((call) => call.op === op).length >= times);
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      await new Promise<void>((resolve) => {
        const listener = (): void => {
          this.#listeners.delete(listener);
          resolve();
        };
        this.#listeners.add(listener);
      });
    }
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}') as Body;
    const op = (request.url ?? '').split('/').at(-1) ?? '';
    this.calls.push({ op, body });
    const fault = this.faults.get(op)?.shift();
    if (fault === 'cut before') {
      request.socket.destroy();
      this.#tell();
      return;
    }
    const answer = typeof fault === 'object' ? fault : await this.#answer(op, body);
    this.#tell();
    if (fault === 'cut after') request.socket.destroy();
    else if ('status' in answer) response.writeHead(answer.status as number).end(String(answer.body));
    else response.end(JSON.stringify(answer));
  }

  async #answer(op: string, body: Body): Promise<Body> {
    if (op === 'claim') {
      if (this.token !== undefined && this.token !== body['token'])
        return refusal(409, 'this proxy is already claimed');
      this.token = String(body['token']);
      return {};
    }
    if (op === 'trajectory') return this.#page(body);
    if (body['token'] !== this.token) return refusal(401, "the driver's token is missing or wrong");
    if (op === 'next') {
      if (Number(body['after']) >= this.version) await this.#news();
      return { version: this.version, turns: this.turns };
    }
    if (op === 'result') return this.#state(String(body['action_id']), body['after'] as number | undefined);
    const task = String(body['task_id']);
    if (op === 'act' && this.actions.has(String(body['action_id']))) return this.#state(String(body['action_id']));
    if (!this.turns.some((turn) => turn.task_id === task)) return refusal(404, `no open turn '${task}'`);
    if (op === 'tools') return { tools: [{ name: 'bash' }] };
    if (op === 'record') {
      this.records.set(task, [...(this.records.get(task) ?? []), body['message']]);
      return {};
    }
    if (op === 'act') {
      const result = this.onAct(body['action'] as Body);
      this.actions.set(String(body['action_id']), { task, state: result ? { done: true, result } : { done: false } });
      return this.#state(String(body['action_id']));
    }
    const parts = body['parts'] as readonly { readonly text: string }[] | undefined;
    this.replies.push({ task, answer: parts?.[0]?.text ?? `error: ${String(body['error'])}` });
    this.close(task);
    return {};
  }

  async #state(actionId: string, after?: number): Promise<Body> {
    if (after !== undefined && !this.tellsOutput) return refusal(400, 'unknown field: after');
    if (this.actions.get(actionId)?.state.done === false && after === undefined) await this.#news();
    const action = this.actions.get(actionId);
    if (action === undefined) return refusal(404, `no action '${actionId}'`);
    if (action.state.done || after === undefined) return action.state;
    return { ...action.state, output: { stdout: `${after};`, stderr: '', next: after + 1 } };
  }

  #page(body: Body): Body {
    const task = String(body['task_id']);
    const events = (this.records.get(task) ?? []).map(() => ({ name: 'chat' })).slice(Number(body['after']));
    return { context_id: 'c', task_id: task, state: 'running', format: null, events, next: 0, has_more: false };
  }

  /** The next change, or the end of the long poll. */
  async #news(): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(done);
        resolve();
      };
      const timer = setTimeout(done, LONG_POLL_MS);
      this.#waiters.add(done);
    });
  }

  #change(): void {
    this.version += 1;
    this.#wake();
  }

  #wake(): void {
    for (const waiter of [...this.#waiters]) waiter();
    this.#tell();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

export function bash(stdout: string, exitCode = 0): object {
  return { kind: 'bash', exit_code: exitCode, stdout, stderr: '', timed_out: false };
}

function refusal(status: number, body: string): Body {
  return { status, body };
}
