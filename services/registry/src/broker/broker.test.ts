import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startSilentListener } from '@parley/testkit';
import { startRegistry, type RunningRegistry } from '../testing/start-registry.js';

type Handler = (body: Record<string, unknown>, request: IncomingMessage, response: ServerResponse) => unknown;

interface Candidate {
  readonly url: string;
  readonly requests: Record<string, unknown>[];
  close(): void;
}

const candidates: { close(): void }[] = [];
let registry: RunningRegistry;
let counter = 0;

beforeAll(async () => {
  registry = await startRegistry();
});
afterEach(() => {
  for (const candidate of candidates.splice(0)) candidate.close();
});
afterAll(() => registry.stop());

/** A responder whose answer to a proposal is what the handler returns; undefined: the handler answered itself. */
async function candidate(handler: Handler): Promise<Candidate> {
  const requests: Record<string, unknown>[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
      requests.push(body);
      const answer =
        body['action'] === 'withdraw'
          ? { session_id: body['session_id'], accepted: false, outcome: 'withdrawn' }
          : handler(body, request, response);
      if (answer === undefined) return;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const one = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    requests,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  candidates.push(one);
  return one;
}

const accepting: Handler = ({ session_id, parameters }) => ({
  session_id,
  accepted: true,
  parameters,
  outcome: 'accepted',
});
const declining: Handler = ({ session_id }) => ({
  session_id,
  accepted: false,
  outcome: 'declined',
  reason: { code: 'capacity', detail: 'full', retryable: true },
});
const countering: Handler = ({ session_id }) => ({
  session_id,
  accepted: false,
  parameters: { limit: 5 },
  outcome: 'countered',
});

async function register(agentId: string, endpoint: string, capability: string): Promise<void> {
  const response = await fetch(`${registry.httpUrl}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agent_id: agentId, name: agentId, endpoint, capabilities: [capability] }),
  });
  expect(response.status).toBe(201);
}

async function negotiate(fields: Record<string, unknown>): Promise<{ status: number; body: Record<string, unknown> }> {
  counter += 1;
  const response = await fetch(`${registry.httpUrl}/negotiate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ session_id: `s-${String(counter)}`, agent_id: 'caller', ...fields }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('brokering', () => {
  it('passes the initiator’s own words on, names the responder, and lists the attempt', async () => {
    const one = await candidate(accepting);
    await register('b-accepts', one.url, 'b1');
    const { body } = await negotiate({ capabilities: ['b1'], parameters: { language: 'ru' }, labels: {} });
    expect(body).toMatchObject({
      accepted: true,
      parameters: { language: 'ru' },
      responder: { agent_id: 'b-accepts', endpoint: one.url },
      attempts: [{ agent_id: 'b-accepts', outcome: 'accepted' }],
    });
    expect(one.requests[0]).toMatchObject({
      agent_id: 'caller',
      capabilities: ['b1'],
      parameters: { language: 'ru' },
      via: 'registry',
    });
    expect(one.requests[0]).not.toHaveProperty('max_candidates');
  });

  it('goes on to the next candidate after a refusal and after silence, and calls silence a timeout', async () => {
    const silent = await startSilentListener();
    candidates.push({ close: () => void silent.close() });
    const full = await candidate(declining);
    const one = await candidate(accepting);
    await register('c-silent', `http://127.0.0.1:${String(silent.port)}`, 'c1');
    await register('c-full', full.url, 'c1');
    await register('c-accepts', one.url, 'c1');
    const outcomes = new Map<string, string>();
    for (let round = 0; round < 12; round += 1) {
      const { body } = await negotiate({ capabilities: ['c1'], candidate_timeout_ms: 100 });
      expect(body).toMatchObject({ accepted: true, responder: { agent_id: 'c-accepts' } });
      for (const attempt of body['attempts'] as { agent_id: string; outcome: string }[])
        outcomes.set(attempt.agent_id, attempt.outcome);
    }
    expect(Object.fromEntries(outcomes)).toEqual({
      'c-silent': 'timeout',
      'c-full': 'declined',
      'c-accepts': 'accepted',
    });
  });

  it('asks the next one as well when the first is slow, and withdraws at the loser', async () => {
    let release: (() => void) | undefined;
    const slow = await candidate((body, _request, response) => {
      release = () => response.end(JSON.stringify(accepting(body, _request, response)));
      return undefined;
    });
    const quick = await candidate(accepting);
    await register('d-slow', slow.url, 'd1');
    let asked = 0;
    await register('d-quick', quick.url, 'd1');
    // The order is random: until the slow one was first, it is asked again.
    while (slow.requests.length === 0 && (asked += 1) < 50) {
      const { body } = await negotiate({ capabilities: ['d1'], candidate_timeout_ms: 10_000 });
      expect(body).toMatchObject({ responder: { agent_id: 'd-quick' } });
    }
    release?.();
    const until = Date.now() + 2_000;
    while (!slow.requests.some(({ action }) => action === 'withdraw') && Date.now() < until)
      await new Promise(setImmediate);
    expect(slow.requests.at(-1)).toMatchObject({ action: 'withdraw', agent_id: 'caller' });
  });

  it('gives back the first counter when nobody accepts', async () => {
    const one = await candidate(countering);
    const other = await candidate(declining);
    await register('e-counters', one.url, 'e1');
    await register('e-declines', other.url, 'e1');
    const { body } = await negotiate({ capabilities: ['e1'], parameters: { limit: 9 } });
    expect(body).toMatchObject({
      accepted: false,
      outcome: 'countered',
      parameters: { limit: 5 },
      responder: { agent_id: 'e-counters' },
    });
  });

  it('takes a counter that gives all that was asked for', async () => {
    const one = await candidate(countering);
    await register('f-counters', one.url, 'f1');
    const { body } = await negotiate({ capabilities: ['f1'], parameters: { limit: 5 } });
    expect(body).toMatchObject({ outcome: 'countered', responder: { agent_id: 'f-counters' } });
  });

  it.each<[string, Handler, string]>([
    ['an answer that is no JSON', (_body, _request, response) => void response.end('<html>'), 'invalid_answer'],
    ['an answer for another session', () => ({ session_id: 'other', accepted: true }), 'invalid_answer'],
    [
      'an answer over 64 KiB',
      ({ session_id }) => ({ session_id, accepted: true, parameters: { a: 'x'.repeat(70_000) } }),
      'invalid_answer',
    ],
    [
      'a redirect',
      (_body, _request, response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
      'invalid_answer',
    ],
    ['an internal error', (_body, _request, response) => void response.writeHead(500).end(), 'error'],
  ])('does not take %s for an answer', async (_what, handler, outcome) => {
    counter += 1;
    const capability = `g${String(counter)}`;
    await register(capability, (await candidate(handler)).url, capability);
    const { status, body } = await negotiate({ capabilities: [capability] });
    expect(status).toBe(200);
    expect(body).toMatchObject({ accepted: false, outcome: 'declined', attempts: [{ outcome }] });
  });

  it.each([
    'http://169.254.169.254',
    'http://[fe80::1]',
    'http://[::ffff:169.254.169.254]',
    'http://0.0.0.0:9',
    'http://224.0.0.1',
  ])('never calls %s', async (endpoint) => {
    counter += 1;
    const capability = `h${String(counter)}`;
    await register(capability, endpoint, capability);
    const { body } = await negotiate({ capabilities: [capability] });
    expect(body).toMatchObject({ outcome: 'declined', attempts: [{ outcome: 'target_refused' }] });
  });

  it('says timeout, not declined, when nobody answered', async () => {
    const silent = await startSilentListener();
    candidates.push({ close: () => void silent.close() });
    await register('i-silent', `http://127.0.0.1:${String(silent.port)}`, 'i1');
    const { body } = await negotiate({ capabilities: ['i1'], candidate_timeout_ms: 50 });
    expect(body).toMatchObject({ reason: { code: 'timeout', retryable: true } });
  });

  it('never asks the initiator itself', async () => {
    const one = await candidate(accepting);
    await register('caller', one.url, 'j1');
    expect((await negotiate({ capabilities: ['j1'] })).body).toMatchObject({ reason: { code: 'no_candidates' } });
  });

  it('passes on the refusal of a named target with its code', async () => {
    const one = await candidate((_body, _request, response) => {
      response.writeHead(409, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ code: 'session_conflict', detail: 'another body' }));
      return undefined;
    });
    await register('k-conflict', one.url, 'k1');
    expect(await negotiate({ capabilities: ['k1'], target_agent_id: 'k-conflict' })).toMatchObject({
      status: 409,
      body: { code: 'session_conflict' },
    });
  });

  it('keeps the whole within the deadline that the initiator gave', async () => {
    const silent = await startSilentListener();
    candidates.push({ close: () => void silent.close() });
    for (const n of [1, 2, 3]) await register(`l-silent-${String(n)}`, `http://127.0.0.1:${String(silent.port)}`, 'l1');
    const started = Date.now();
    const { body } = await negotiate({ capabilities: ['l1'], deadline_ms: 300, candidate_timeout_ms: 10_000 });
    expect(body).toMatchObject({ accepted: false });
    expect(Date.now() - started).toBeLessThan(2_000);
  });
});

describe('a registry that refuses private targets', () => {
  it('does not call a candidate on the loopback address', async () => {
    const strict = await startRegistry({ REGISTRY_ALLOW_PRIVATE_TARGETS: 'false' });
    try {
      const one = await candidate(accepting);
      const post = (path: string, body: object) =>
        fetch(strict.httpUrl + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
      await post('/register', { agent_id: 'a', name: 'a', endpoint: one.url, capabilities: ['a'] });
      const response = await post('/negotiate', { session_id: 's', agent_id: 'caller', capabilities: ['a'] });
      expect(await response.json()).toMatchObject({ attempts: [{ outcome: 'target_refused' }] });
      expect(one.requests).toHaveLength(0);
    } finally {
      await strict.stop();
    }
  });
});
