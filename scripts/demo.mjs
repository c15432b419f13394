// The main job, end to end, on embedded defaults: no Docker, no Redis, no key, no network beyond loopback.
// Every scenario is checked; the first one that does not hold ends the demo with exit code 1.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePorts } from './lib/free-ports.mjs';
import { startService, untilReady } from './lib/service-process.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const REVIEWED = 'services/registry/src/broker/first-acceptable.ts';
const started = [];
/** Where the proxy's commands work; removed in the end. */
let home;
const log = [];

function heading(text) {
  console.log(`\n--- ${text}`);
}

function check(condition, sentence) {
  if (!condition) throw new Error(`it does not hold that ${sentence}`);
  console.log(`    ok: ${sentence}`);
}

function onLine(line) {
  log.push(line);
  console.log(line);
}

async function untilLogged(pattern, timeoutMs = 10_000) {
  const until = Date.now() + timeoutMs;
  while (!log.some((line) => pattern.test(line))) {
    if (Date.now() > until) throw new Error(`no log line matched ${pattern} within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function call(method, url, body, headers = {}) {
  const response = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

/** Accepts connections and never says a word. */
async function silentListener() {
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => sockets.delete(socket));
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

async function startEverything() {
  const [registryHttp, registryGrpc, aHttp, aGrpc, bHttp, bGrpc, pHttp, pGrpc] = await freePorts(8);
  const registry = `http://127.0.0.1:${registryHttp}`;
  const quiet = { OTEL_EXPORTER_OTLP_ENDPOINT: '', REDIS_URL: '' };
  const start = (name, env) => {
    const service = startService(name, { ...quiet, ...env }, onLine);
    started.push(service);
    return service;
  };
  start('registry', {
    REGISTRY_HOST: '127.0.0.1',
    REGISTRY_HTTP_PORT: `${registryHttp}`,
    REGISTRY_GRPC_PORT: `${registryGrpc}`,
    REGISTRY_LOG_FORMAT: 'text',
    REGISTRY_DRAIN_DELAY_MS: '0',
  });
  await untilReady(`${registry}/readyz`);
  const agent = async (name, http, grpc) => {
    start(name, {
      AGENT_HOST: '127.0.0.1',
      AGENT_HTTP_PORT: `${http}`,
      AGENT_GRPC_PORT: `${grpc}`,
      AGENT_REGISTRY_URL: registry,
      AGENT_LOG_FORMAT: 'text',
      AGENT_DRAIN_DELAY_MS: '0',
    });
    await untilReady(`http://127.0.0.1:${http}/readyz`);
    return `http://127.0.0.1:${http}`;
  };
  const proxy = async () => {
    home = await mkdtemp(`${tmpdir()}/parley-demo-`);
    start('proxy', {
      HOME: home,
      PROXY_WORK_DIR: home,
      PROXY_HOST: '127.0.0.1',
      PROXY_HTTP_PORT: `${pHttp}`,
      PROXY_GRPC_PORT: `${pGrpc}`,
      PROXY_AGENT_ID: 'proxy',
      PROXY_REGISTRY_URL: registry,
      PROXY_LOG_FORMAT: 'text',
    });
    await untilReady(`http://127.0.0.1:${pHttp}/readyz`);
    return `http://127.0.0.1:${pHttp}`;
  };
  return {
    registry,
    agentA: await agent('agent-a', aHttp, aGrpc),
    agentB: await agent('agent-b', bHttp, bGrpc),
    proxy: await proxy(),
  };
}

async function refusal({ agentA }) {
  heading('A refusal: agent A insists on a parameter that nobody knows');
  const { status, body } = await call('POST', `${agentA}/delegate`, {
    capability: 'code_review',
    input: { source: 'let x = 1' },
    parameters: { tone_of_voice: 'kind' },
    required_parameters: ['tone_of_voice'],
  });
  check(status >= 400 && body.code === 'negotiation_failed', 'a refusal is a typed failure, not a crash');
  check(JSON.stringify(body).includes('parameter_unsupported'), 'the failure names the reason: parameter_unsupported');
}

async function counterOffer({ agentA }) {
  heading('A counter-offer taken: agent A asks for more findings than agent B gives');
  const { status, body } = await call('POST', `${agentA}/delegate`, {
    capability: 'code_review',
    input: { source: 'var a = 1\nif (a == "1") { }\n', filename: 'sample.js' },
    parameters: { max_findings: 100_000, severity: 'info' },
    accept_counters: true,
  });
  check(status === 200, 'agent A takes the counter-offer and gets its work done');
  check(body.applied.max_findings === 200, 'the work was done with the agreed 200 findings, not with 100,000');
}

async function silentCandidate({ registry, agentA }) {
  heading('A silent candidate: the first one asked never answers, the next one is taken');
  const silent = await silentListener();
  const token = 'demo-token-of-the-silent-agent';
  await call(
    'POST',
    `${registry}/register`,
    { agent_id: 'agent_silent', name: 'Says nothing', endpoint: silent.url, capabilities: ['code_review'] },
    { authorization: `Bearer ${token}` },
  );
  const { status, body } = await call('POST', `${agentA}/delegate`, {
    capability: 'code_review',
    input: { source: 'eval("1")', filename: 'sample.js' },
    prefer: ['agent_silent'],
    candidate_timeout_ms: 400,
  });
  check(status === 200 && body.partner.agent_id === 'agent_B', 'agent B did the work');
  check(
    body.attempts.some((attempt) => attempt.agent_id === 'agent_silent' && attempt.outcome === 'timeout'),
    'the attempt at the silent one is reported as a timeout, not as a refusal',
  );
  await call('DELETE', `${registry}/agents/agent_silent`, undefined, { authorization: `Bearer ${token}` });
  silent.close();
}

async function expiry({ registry }) {
  heading('An expired agent vanishes: registered for 2 seconds, never renewed');
  const discover = () => call('GET', `${registry}/discover?capabilities=fleeting`);
  await call('POST', `${registry}/register`, {
    agent_id: 'agent_fleeting',
    name: 'Stops renewing',
    endpoint: 'http://127.0.0.1:9',
    capabilities: ['fleeting'],
    ttl_seconds: 2,
  });
  const before = Date.now();
  check((await discover()).body.agents.length === 1, 'it is found while its lease lasts');
  while ((await discover()).body.agents.length > 0) {
    if (Date.now() - before > 4_000) throw new Error('the expired agent is still listed after 4 s');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const lasted = (Date.now() - before) / 1_000;
  check(lasted > 1.5 && lasted < 3, `it was gone after ${lasted.toFixed(1)} s, within its lease and one second`);
}

async function review({ registry, agentA }) {
  heading(`The main job: agent B reviews ${REVIEWED} for agent A, under an agreement`);
  const source = await readFile(`${root}${REVIEWED}`, 'utf8');
  const { status, body } = await call('POST', `${agentA}/delegate`, {
    capability: 'code_review',
    input: { source, filename: REVIEWED },
    parameters: { severity: 'info', language: 'typescript' },
  });
  check(status === 200, 'agent A got its answer');
  const { partner, agreement, applied, output } = body;
  console.log(`\n    Partner    ${partner.agent_id} at ${partner.endpoint}`);
  console.log(`    Agreement  ${agreement.agreement_id}, ${agreement.terms_digest}`);
  console.log(`    Applied    ${JSON.stringify(applied)}`);
  console.log(`    Verdict    ${output.verdict}: ${output.summary}`);
  for (const { line, severity, rule, message } of output.findings) {
    console.log(`    ${REVIEWED}:${line}  ${severity}  ${message} (${rule})`);
  }
  console.log();
  check(applied.language === 'typescript', 'the review was made with the agreed parameters');
  check(
    output.run?.offline === true && output.run.stop_reason === 'text_response',
    `it was one run of agent B's harness, and says that its model is the offline one (${output.run?.turns} turns)`,
  );
  check(
    output.metrics.lines === source.split('\n').length || output.metrics.lines === source.split('\n').length - 1,
    'the whole file was reviewed',
  );
  await untilWitnessed(registry, agreement.agreement_id);
}

async function playedProxy({ registry, proxy }) {
  heading('A proxy, an agent without a model, is played by a driver: commands, tools of an environment, two failures');
  const found = await call('GET', `${registry}/discover?capabilities=playable`);
  check(found.body.agents.length === 1, 'the proxy is found at the registry as playable');
  const env = { ...process.env, PROXY_URL: proxy, PARLEY_HOME: home, ENV_SERVER_HOST: '127.0.0.1' };
  const child = spawn(process.execPath, ['scripts/play-proxy.mjs'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      // The demo exports no spans, so there is nothing in Jaeger.
      if (line.startsWith('The same turn in Jaeger')) return;
      lines.push(line);
      console.log(`    ${line}`);
    });
  }
  const code = await new Promise((resolve) => child.once('close', resolve));
  const said = lines.join('\n');
  check(code === 0, 'the turn was played to its end');
  check(/bash .*exit 0/u.test(said) && /bash .*exit 3/u.test(said), 'both commands ran where the proxy is');
  check(/add @env .*ok/u.test(said) && /fail @env .*ERROR/u.test(said), 'the tools of the environment were called');
  check(said.includes('nothing was changed, left out or added'), 'the record of the turn verifies');
}

async function untilWitnessed(registry, id) {
  const until = Date.now() + 5_000;
  for (;;) {
    const { status, body } = await call('GET', `${registry}/agreements/${id}`);
    if (status === 200) {
      check(
        body.terms.initiator === 'agent_A' && body.terms.responder === 'agent_B',
        'the registry has witnessed the agreement',
      );
      return;
    }
    if (Date.now() > until) throw new Error('the registry did not witness the agreement within 5 s');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The six kinds of line of the protocol's trace log. */
const TRACE = {
  registered: /^\[REGISTRY\] \d\d:\d\d:\d\d\.\d{3} Register agent_A \['translate', 'summarize'\] -> OK$/,
  discovered: /^\[AGENT_A\] \d\d:\d\d:\d\d\.\d{3} Discover for \['code_review'\] -> found .*agent_B \(http:\/\/\S+\)/,
  sent: /^\[AGENT_A\] \d\d:\d\d:\d\d\.\d{3} Sent negotiation to agent_B \(session_id: \S+\)$/,
  received: /^\[AGENT_B\] \d\d:\d\d:\d\d\.\d{3} Received negotiation, checking capabilities: code_review -> accepted$/,
  answered: /^\[AGENT_B\] \d\d:\d\d:\d\d\.\d{3} Sent negotiation response: accepted$/,
  completed: /^\[AGENT_A\] \d\d:\d\d:\d\d\.\d{3} Handshake completed with agent_B$/,
};

let failed = false;
const stopOnSignal = () => {
  for (const service of started) service.kill('SIGTERM');
  process.exit(130);
};
process.on('SIGINT', stopOnSignal);
process.on('SIGTERM', stopOnSignal);
try {
  heading('Registry, agent A, agent B and a proxy start as processes of their own');
  const urls = await startEverything();
  await refusal(urls);
  await counterOffer(urls);
  await silentCandidate(urls);
  await expiry(urls);
  await review(urls);
  await playedProxy(urls);
  heading('The trace log has all six kinds of line');
  for (const [kind, pattern] of Object.entries(TRACE)) {
    await untilLogged(pattern);
    check(true, `${kind}: ${log.find((line) => pattern.test(line))}`);
  }
} catch (error) {
  failed = true;
  console.error(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}`);
} finally {
  heading('Everything stops in order');
  for (const service of started.reverse()) {
    const { code } = await service.stop();
    if (code !== 0) {
      failed = true;
      console.error(`${service.name} ended with ${code}`);
    }
  }
}
if (home !== undefined) await rm(home, { recursive: true, force: true });
console.log(failed ? '\nDemo: FAILED' : '\nDemo: all scenarios held');
process.exit(failed ? 1 : 0);
