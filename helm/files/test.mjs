// One discovery, one negotiation and two pieces of work through the Services; then their trace, where there is Jaeger.
// Exit 0 when all of it came out as it should.
import { randomBytes } from 'node:crypto';

const { REGISTRY_HTTP, AGENT_A_HTTP, AGENT_B_HTTP, AGENT_B_ID, PROXY_HTTP, JAEGER_HTTP, OPERATOR_TOKEN } = process.env;
const SOURCE = 'var a = 1\nif (a == "1") { eval(a) }\n';
const traceId = randomBytes(16).toString('hex');

const traced = () => ({ traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` });

async function ask(method, url, body, headers = traced()) {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

function expect(what, is) {
  if (!is) throw new Error(`expected ${what}`);
}

/** Balancers learn of a change up to a second late, and an agent may be registering: asked again for a while. */
async function within(seconds, work) {
  const until = Date.now() + seconds * 1_000;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

async function discover() {
  const { agents } = await ask('GET', `${REGISTRY_HTTP}/discover?capabilities=code_review`);
  const found = agents.find(({ agent_id: id }) => id === AGENT_B_ID);
  expect(`${AGENT_B_ID} among ${JSON.stringify(agents.map(({ agent_id: id }) => id))}`, found !== undefined);
  console.log(`discovery: ${found.agent_id} at ${found.endpoint}`);
  return found;
}

async function negotiate() {
  const answer = await ask('POST', `${AGENT_B_HTTP}/negotiate`, {
    session_id: `helm-test-${traceId}`,
    agent_id: 'helm-test',
    capabilities: ['code_review'],
    limits: { max_calls: 1 },
  });
  expect(`an acceptance, not ${JSON.stringify(answer)}`, answer.accepted === true);
  console.log(`negotiation: agreement ${answer.agreement.agreement_id}`);
  return answer;
}

async function work({ agreement, agreement_proof: proof }) {
  const { agreement_id, terms_digest } = agreement;
  const answer = await ask(
    'POST',
    `${AGENT_B_HTTP}/invoke`,
    { agreement_id, terms_digest, call_id: traceId, capability: 'code_review', input: { source: SOURCE } },
    { ...traced(), 'parley-agreement-proof': proof },
  );
  expect('findings', JSON.stringify(answer.output).includes('eval'));
  console.log(`work: ${JSON.stringify(answer.output).length} bytes of findings`);
}

/** The same by agent A, on its own: registry, negotiation, work, all in one trace. */
async function delegate() {
  const headers = { ...traced(), ...(OPERATOR_TOKEN ? { authorization: `Bearer ${OPERATOR_TOKEN}` } : {}) };
  const body = { capability: 'code_review', input: { source: SOURCE } };
  const { partner, agreement } = await ask('POST', `${AGENT_A_HTTP}/delegate`, body, headers);
  expect(`${AGENT_B_ID} as partner, not ${partner.agent_id}`, partner.agent_id === AGENT_B_ID);
  console.log(`delegation: agent A to ${partner.agent_id}, agreement ${agreement.agreement_id}`);
}

async function trace() {
  // Untraced: the question would be a part of what it asks for.
  const { data } = await ask('GET', `${JAEGER_HTTP}/api/traces/${traceId}`, undefined, {});
  const services = new Set(Object.values(data[0]?.processes ?? {}).map(({ serviceName }) => serviceName));
  for (const one of ['agent-a', 'agent-b', 'registry']) expect(`spans of ${one} in the trace`, services.has(one));
  console.log(`trace: ${data[0].spans.length} spans of ${[...services].sort().join(', ')}`);
}

console.log(`trace id: ${traceId}`);
await within(30, discover);
await work(await within(10, negotiate));
await delegate();
if (PROXY_HTTP) {
  const { status } = await ask('GET', `${PROXY_HTTP}/readyz`);
  expect('a proxy that is ready', status === 'ready');
  console.log('proxy: ready');
}
if (JAEGER_HTTP) await within(20, trace);
console.log('all of it works');
