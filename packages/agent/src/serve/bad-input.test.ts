import { badBodies, oddValues, problemFaults, sendCase, type HttpCase } from '@parley/testkit';
import { z } from 'zod';
import { Agent } from '../agent/index.js';
import type { Skill } from '../skill.js';
import { serveAgent, type ServedAgent } from './serve-agent.js';

const echo: Skill<{ text: string }> = {
  capability: 'echo',
  detail: { version: '1.0.0', parameters: { loud: { type: 'boolean', default: false } } },
  input: z.strictObject({ text: z.string() }),
  run: ({ text }) => Promise.resolve({ text }),
};

const agent = new Agent({ manifest: { agentId: 'judge', endpoint: 'http://127.0.0.1:9' }, skills: [echo as Skill] });
let served: ServedAgent;
beforeAll(async () => {
  served = await serveAgent(agent, { operatorToken: 'operator-token-of-the-suite' });
});
afterAll(async () => {
  await agent.stop();
  await served.close(1_000);
});

const digest = `sha256:${'A'.repeat(43)}`;
const proposal = { session_id: 's', agent_id: 'caller', capabilities: ['echo'] };
const call = { agreement_id: 'agr', terms_digest: digest, capability: 'echo', call_id: 'c1', input: { text: 'x' } };
const operator = { authorization: 'Bearer operator-token-of-the-suite' };

function one(method: string, path: string, wrong: string, body: unknown, at?: string, status?: number): HttpCase {
  return {
    wrong,
    method,
    path,
    body,
    ...(at === undefined ? {} : { at }),
    ...(status === undefined ? {} : { status }),
  };
}

const NEGOTIATE: readonly HttpCase[] = [
  ...badBodies('POST', '/negotiate'),
  ...(['session_id', 'agent_id', 'capabilities'] as const).map((field) =>
    one('POST', '/negotiate', `no ${field}`, { ...proposal, [field]: undefined }, field),
  ),
  ...(['session_id', 'agent_id', 'proof_hash'] as const).flatMap((field) =>
    oddValues.map(([what, value]) =>
      one('POST', '/negotiate', `${field} is ${what}`, { ...proposal, [field]: value }, field),
    ),
  ),
  one('POST', '/negotiate', 'an empty list', { ...proposal, capabilities: [] }, 'capabilities'),
  one('POST', '/negotiate', 'a wrong range', { ...proposal, capabilities: ['echo@nope'] }, 'capabilities[0]'),
  one('POST', '/negotiate', 'an object as value', { ...proposal, parameters: { loud: {} } }, 'parameters.loud'),
  one(
    'POST',
    '/negotiate',
    'a reserved name',
    '{"session_id":"s","agent_id":"a","capabilities":["echo"],"parameters":{"__proto__":1}}',
    'parameters.__proto__',
  ),
  one('POST', '/negotiate', 'a slash without a capability', { ...proposal, parameters: { '/loud': true } }),
  one('POST', '/negotiate', 'an unknown action', { ...proposal, action: 'dance' }, 'action'),
  one(
    'POST',
    '/negotiate',
    'an acceptance without an offer',
    { session_id: 's', agent_id: 'a', action: 'accept' },
    'offer_id',
  ),
  one(
    'POST',
    '/negotiate',
    'an acceptance with terms',
    { ...proposal, action: 'accept', offer_id: 'o', terms_digest: digest },
    'capabilities',
  ),
  one(
    'POST',
    '/negotiate',
    'an acceptance of a short digest',
    { session_id: 's', agent_id: 'a', action: 'accept', offer_id: 'o', terms_digest: 'x' },
    'terms_digest',
  ),
  one(
    'POST',
    '/negotiate',
    'a decline without an offer',
    { session_id: 's', agent_id: 'a', action: 'decline' },
    'offer_id',
  ),
  one(
    'POST',
    '/negotiate',
    'an acceptance of nothing',
    { session_id: 'none', agent_id: 'a', action: 'accept', offer_id: 'o', terms_digest: digest },
    undefined,
    404,
  ),
  one('POST', '/negotiate', 'limits of zero', { ...proposal, limits: { max_calls: 0 } }, 'limits.max_calls'),
  one('POST', '/negotiate', 'unknown limits', { ...proposal, limits: { money: 1 } }, 'limits.money'),
  one('POST', '/negotiate', 'a long message', { ...proposal, message: 'x'.repeat(1_001) }, 'message'),
  one('POST', '/negotiate', 'seventeen rounds', { ...proposal, max_rounds: 17 }, 'max_rounds'),
  one('POST', '/negotiate', 'no time', { ...proposal, deadline_ms: 0 }, 'deadline_ms'),
  one('POST', '/negotiate', 'an unknown field', { ...proposal, target_agent_id: 'x' }, 'target_agent_id'),
];

const AGREEMENTS: readonly HttpCase[] = [
  ...badBodies('PUT', '/agreements/agr'),
  ...badBodies('PUT', '/agreements/agr/confirm'),
  one('PUT', '/agreements/agr', 'an unknown agreement', { terms_digest: digest }, undefined, 404),
  one('PUT', '/agreements/agr', 'a negative revision', { terms_digest: digest, lease_revision: -1 }, 'lease_revision'),
  one('PUT', '/agreements/agr', 'an unknown state', { terms_digest: digest, state: 'happy' }, 'state'),
  one(
    'PUT',
    '/agreements/agr',
    'a ttl of zero',
    { terms_digest: digest, agreement_ttl_seconds: 0 },
    'agreement_ttl_seconds',
  ),
  one('PUT', '/agreements/agr/confirm', 'an unknown agreement', { terms_digest: digest }, undefined, 404),
  one('PUT', '/agreements/agr/confirm', 'no digest', {}, 'terms_digest'),
  one('DELETE', '/agreements/agr', 'an unknown agreement', undefined, undefined, 404),
  one('DELETE', '/agreements/agr?reason=boredom', 'an unknown reason', undefined, 'reason'),
  one('DELETE', '/agreements/agr?why=x', 'an unknown parameter', undefined, 'why'),
  one('GET', '/agreements/agr', 'an unknown agreement', undefined, undefined, 404),
  one('GET', '/agreements', 'no token', undefined, undefined, 401),
  {
    ...one('GET', '/agreements', 'a wrong token', undefined, undefined, 403),
    headers: { authorization: `Bearer ${'x'.repeat(30)}` },
  },
  { ...one('GET', '/agreements?state=happy', 'an unknown state', undefined, 'state'), headers: operator },
  { ...one('GET', '/agreements?limit=0', 'a limit of zero', undefined, 'limit'), headers: operator },
];

const WORK: readonly HttpCase[] = [
  ...badBodies('POST', '/invoke'),
  ...(['agreement_id', 'terms_digest', 'capability', 'call_id'] as const).map((field) =>
    one('POST', '/invoke', `no ${field}`, { ...call, [field]: undefined }, field),
  ),
  ...(['agreement_id', 'capability', 'call_id', 'input'] as const).flatMap((field) =>
    oddValues
      .filter(([what]) => field !== 'input' || what !== 'an object')
      .map(([what, value]) => one('POST', '/invoke', `${field} is ${what}`, { ...call, [field]: value }, field)),
  ),
  one('POST', '/invoke', 'an unknown agreement', call, undefined, 404),
  one('POST', '/invoke', 'an unknown field', { ...call, task: 'x' }, 'task'),
  ...badBodies('POST', '/delegate'),
  one('POST', '/delegate', 'no token', { capability: 'echo' }, undefined, 401),
  one('POST', '/delegate', 'no capability', {}, 'capability'),
  one('POST', '/delegate', 'a wrong range', { capability: 'echo@nope' }, 'capability'),
  one('POST', '/delegate', 'no time', { capability: 'echo', deadline_ms: 1 }, 'deadline_ms'),
  one('POST', '/delegate', 'labels as list', { capability: 'echo', labels: [] }, 'labels'),
  one('POST', '/delegate', 'an unknown field', { capability: 'echo', task: 'x' }, 'task'),
  one('GET', '/nowhere', 'no such path', undefined, undefined, 404),
  one('GET', '/invoke', 'the wrong method', undefined, undefined, 405),
];

describe('bad input to an agent', () => {
  it.each(
    [...NEGOTIATE, ...AGREEMENTS, ...WORK].map((item) => [`${item.method} ${item.path}`, item.wrong, item] as const),
  )('is a problem with a path: %s with %s', async (_route, _wrong, item) => {
    expect(problemFaults(await sendCase(served.httpUrl, item), item)).toEqual([]);
  });

  it('leaves no agreement behind', async () => {
    expect(await agent.keeper.countLiving()).toBe(0);
  });
});
