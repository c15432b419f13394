import { AppError, toProblem, validate } from '@parley/service-kit';
import type { Agent } from '../src/agent/agent.js';
import { invokeRequest, type EndReason } from '../src/wire/agreement.js';
import { negotiationRequest } from '../src/wire/negotiation.js';
import { startJsonServer, type JsonAnswer, type JsonRequest, type JsonServer } from './json-server.js';

/** Mounts an agent's operations on a server of a test: just enough of HTTP to be a peer. */
export async function serveAgent(agent: () => Agent, port = 0): Promise<JsonServer> {
  return startJsonServer(async (request) => {
    try {
      return await route(agent(), request);
    } catch (thrown) {
      const error = AppError.from(thrown);
      return { status: error.status, body: toProblem(error, 'test') };
    }
  }, port);
}

async function route(agent: Agent, request: JsonRequest): Promise<JsonAnswer> {
  const { method, path, headers, query } = request;
  const shown = headers['parley-agreement-proof'];
  const proof = typeof shown === 'string' ? shown : undefined;
  const body = (request.body ?? {}) as Record<string, unknown>;
  if (method === 'POST' && path === '/negotiate') {
    const input = validate(negotiationRequest, body);
    return { status: 200, body: await agent.handleNegotiation(input, proof === undefined ? {} : { proof }) };
  }
  if (method === 'POST' && path === '/invoke') {
    const call = { proof, signal: AbortSignal.timeout(10_000) };
    return { status: 200, body: await agent.handleInvoke(validate(invokeRequest, body), call) };
  }
  const [, id, tail] = /^\/agreements\/([^/]+)(\/confirm)?$/u.exec(path) ?? [];
  if (id === undefined) throw new AppError('not_found', 'There is no such thing.');
  const termsDigest = String(body['terms_digest']);
  if (method === 'PUT' && tail !== undefined) {
    return { status: 200, body: { agreement: await agent.keeper.confirm(id, { termsDigest, proof }) } };
  }
  if (method === 'PUT') {
    const leaseRevision = Number(body['lease_revision']);
    return { status: 200, body: { agreement: await agent.keeper.renew(id, { leaseRevision, termsDigest, proof }) } };
  }
  if (method === 'DELETE') {
    const reason = (query.get('reason') ?? 'released_by_initiator') as EndReason;
    return { status: 200, body: { agreement: await agent.handleEnd(id, { proof, reason }) } };
  }
  return { status: 200, body: { agreement: await agent.keeper.get(id, { proof }) } };
}
