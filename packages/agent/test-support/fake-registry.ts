import type { ServerResponse } from 'node:http';
import type { Agreement } from '../src/wire/agreement.js';
import { problem, startJsonServer, type JsonAnswer, type JsonRequest, type JsonServer } from './json-server.js';

interface Entry {
  readonly manifest: Record<string, unknown> & { agent_id: string; capabilities: string[] };
  readonly token: string;
  revision: number;
}

interface Watcher {
  readonly response: ServerResponse;
  readonly only: ReadonlySet<string> | undefined;
}

/** A registry of a few lines over HTTP, for tests that need one to misbehave on command. Leases never end by themselves. */
export class FakeRegistry {
  readonly agents = new Map<string, Entry>();
  readonly reports: Agreement[] = [];
  readonly watchers = new Set<Watcher>();
  ttlSeconds = 30;
  /** Answers instead of the registry's own, while set. */
  intercept: ((request: JsonRequest) => JsonAnswer | undefined) | undefined;
  #revision = 0;
  #server: JsonServer | undefined;

  async start(port = 0): Promise<this> {
    this.#server = await startJsonServer((request) => this.intercept?.(request) ?? this.#answer(request), port);
    return this;
  }

  get url(): string {
    return this.#started().url;
  }
  get port(): number {
    return this.#started().port;
  }
  get requests(): readonly JsonRequest[] {
    return this.#started().requests;
  }

  async stop(): Promise<void> {
    await this.#started().stop();
  }

  count(method: string, path: string): number {
    return this.requests.filter((request) => request.method === method && request.path === path).length;
  }

  /** As a lease that ran out. */
  expire(agentId: string): void {
    this.agents.delete(agentId);
    this.#publish('expired', agentId);
  }

  /** As a store that lost everything: nobody is told. */
  forgetAll(): void {
    this.agents.clear();
  }

  /** Cuts the watches, as a restart does. */
  cutWatches(): void {
    for (const { response } of this.watchers) response.destroy();
    this.watchers.clear();
  }

  lease(): object {
    const expires = new Date(Date.now() + this.ttlSeconds * 1_000).toISOString();
    return { ttl_seconds: this.ttlSeconds, expires_at: expires, renew_every_seconds: this.ttlSeconds / 3 };
  }

  #started(): JsonServer {
    if (this.#server === undefined) throw new Error('not started');
    return this.#server;
  }

  #answer(request: JsonRequest): JsonAnswer | undefined {
    const { method, path } = request;
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    const [, id, lease] = /^\/agents\/([^/]+)(\/lease)?$/u.exec(path) ?? [];
    if (method === 'POST' && path === '/register') return this.#register(request, token);
    if (method === 'GET' && path === '/discover') return this.#discover(request);
    if (method === 'GET' && path === '/watch') return this.#watch(request);
    if (method === 'POST' && path === '/agreements') {
      this.reports.push((request.body as { agreement: Agreement }).agreement);
      return { status: 200, body: { agreement_id: this.reports.at(-1)?.agreement_id, recorded: true } };
    }
    const entry = this.agents.get(id ?? '');
    if (id === undefined) return problem(404, 'not_found');
    if (entry === undefined) return problem(404, lease === undefined ? 'agent_unknown' : 'lease_unknown');
    if (method === 'GET') return { status: 200, body: this.#shown(entry) };
    if (entry.token !== token) return problem(403, 'not_owner');
    if (method === 'PUT') return { status: 200, body: { lease: this.lease() } };
    this.agents.delete(id);
    this.#publish('deregistered', id);
    return { status: 204 };
  }

  #register({ body }: JsonRequest, token: string): JsonAnswer {
    const manifest = body as Entry['manifest'];
    const before = this.agents.get(manifest.agent_id);
    if (before !== undefined && before.token !== token) return problem(409, 'agent_id_taken');
    const entry = { manifest, token: token === '' ? 'made-by-the-registry-00' : token, revision: 0 };
    this.agents.set(manifest.agent_id, entry);
    this.#publish(before === undefined ? 'registered' : 'updated', manifest.agent_id);
    const ownerToken = token === '' ? { owner_token: entry.token } : {};
    return {
      status: before === undefined ? 201 : 200,
      body: { agent_id: manifest.agent_id, lease: this.lease(), revision: entry.revision, ...ownerToken },
    };
  }

  #discover({ query }: JsonRequest): JsonAnswer {
    const wanted = (query.get('capabilities') ?? '').split(',').map((text) => text.replace(/@.*$/u, ''));
    const excluded = (query.get('exclude') ?? '').split(',');
    const found = [...this.agents.values()].filter(
      ({ manifest }) =>
        wanted.every((name) => manifest.capabilities.includes(name)) && !excluded.includes(manifest.agent_id),
    );
    return { status: 200, body: { agents: found.map((entry) => this.#shown(entry)) } };
  }

  #watch({ query, response }: JsonRequest): undefined {
    const ids = query.get('agent_ids');
    const watcher = { response, only: ids === null ? undefined : new Set(ids.split(',')) };
    this.watchers.add(watcher);
    response.once('close', () => this.watchers.delete(watcher));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const agents = [...this.agents.values()]
      .filter(({ manifest }) => watcher.only?.has(manifest.agent_id) ?? true)
      .map((entry) => this.#shown(entry));
    this.#send(watcher, 'snapshot', { type: 'snapshot', revision: this.#revision, agents, complete: true });
    return undefined;
  }

  #publish(type: string, agentId: string): void {
    this.#revision += 1;
    const entry = this.agents.get(agentId);
    if (entry !== undefined) entry.revision = this.#revision;
    for (const watcher of this.watchers) {
      if (watcher.only?.has(agentId) === false) continue;
      const event = { type, revision: this.#revision, agent_id: agentId };
      this.#send(watcher, type, entry === undefined ? event : { ...event, agent: this.#shown(entry) });
    }
  }

  #send({ response }: Watcher, type: string, event: object): void {
    response.write(`event: ${type}\nid: ${String(this.#revision)}\ndata: ${JSON.stringify(event)}\n\n`);
  }

  #shown({ manifest, revision }: Entry): object {
    const { ttl_seconds: _, ...shown } = manifest;
    return { ...shown, lease: this.lease(), revision };
  }
}
