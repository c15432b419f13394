/**
 * A steady load on the Services of a release, from a pod of its namespace, until SIGTERM; the last line is a summary.
 * What is sent: discoveries over HTTP and over gRPC, negotiations with agent-b, and calls under what was agreed. Nothing
 * is sent twice: what fails once has failed. Kept connections, as clients have them.
 *   NAME: fullname of the release   RATE: requests per second
 */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';

// Of the image that it runs in.
const { connectRegistry } = await import('/app/packages/agent/dist/index.js');

/** Slow is no failure, as long as the answer comes. */
const PATIENCE_MS = 15_000;

const AGENT_ID = 'agent_B';
const { NAME, RATE } = process.env;
const registry = `http://${NAME}-registry:8000`;
const agent = `http://${NAME}-agent-b:8002`;
const overGrpc = connectRegistry(`grpc://${NAME}-registry:9000`, { now: Date.now, random: Math.random });

const counts = { requests: 0, failed: 0, discover: 0, discover_grpc: 0, negotiate: 0, invoke: 0 };
const failures = new Map();
let longestMs = 0;
let lastDone = performance.now();
let longestPauseMs = 0;

async function send(method, url, body, headers = {}) {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${/"code":"(\w+)"/u.exec(text)?.[1] ?? text.slice(0, 100)}`);
  return JSON.parse(text);
}

async function counted(kind, work) {
  counts.requests += 1;
  counts[kind] += 1;
  const began = performance.now();
  try {
    return await work();
  } catch (error) {
    counts.failed += 1;
    const why = `${kind}: ${error.message}${error.cause ? ` (${error.cause.code ?? error.cause.message})` : ''}`;
    if (failures.size < 50 || failures.has(why)) failures.set(why, (failures.get(why) ?? 0) + 1);
    if (counts.failed <= 20) console.log(`${new Date().toISOString()} ${why}`);
    return undefined;
  } finally {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - began);
    longestPauseMs = Math.max(longestPauseMs, now - lastDone);
    lastDone = now;
  }
}

function found({ agents }) {
  if (!agents.some(({ agent_id: id }) => id === AGENT_ID)) throw new Error(`${AGENT_ID} is not found`);
}

const discover = () =>
  counted('discover', async () => found(await send('GET', `${registry}/discover?capabilities=code_review`)));
const discoverOverGrpc = () =>
  counted('discover_grpc', async () =>
    found(await overGrpc.discover(['code_review'], { signal: AbortSignal.timeout(PATIENCE_MS) })),
  );

async function agreeAndWork() {
  const agreed = await counted('negotiate', async () => {
    const answer = await send('POST', `${agent}/negotiate`, {
      session_id: randomUUID(),
      agent_id: `load-${randomUUID()}`,
      capabilities: ['translate'],
      parameters: { target_language: 'de' },
      limits: { max_calls: 1 },
    });
    if (answer.accepted !== true) throw new Error(`${answer.outcome}: ${answer.reason?.code}`);
    return answer;
  });
  if (agreed === undefined) return;
  const { agreement_id, terms_digest } = agreed.agreement;
  await counted('invoke', () =>
    send(
      'POST',
      `${agent}/invoke`,
      { agreement_id, terms_digest, call_id: randomUUID(), capability: 'translate', input: { text: 'hello' } },
      { 'parley-agreement-proof': agreed.agreement_proof },
    ),
  );
}

/** Of every twenty requests: fourteen over HTTP, four over gRPC, one negotiation and its call. */
const WORK = [
  ...Array.from({ length: 7 }, () => discover),
  agreeAndWork,
  ...Array.from({ length: 7 }, () => discover),
  ...Array.from({ length: 4 }, () => discoverOverGrpc),
];

const began = performance.now();
const underWay = new Set();
let sent = 0;
const timer = setInterval(() => {
  // By the clock: a timer that fired late is made up for.
  const due = ((performance.now() - began) / 1_000) * Number(RATE);
  for (; sent < due; sent += 1) begin(WORK[sent % WORK.length]);
}, 5);

function begin(work) {
  const done = work().finally(() => underWay.delete(done));
  underWay.add(done);
}

async function end() {
  clearInterval(timer);
  await Promise.all(underWay);
  await overGrpc.close();
  const seconds = (performance.now() - began) / 1_000;
  console.log(
    JSON.stringify({
      ...counts,
      seconds: Math.round(seconds),
      perSecond: Math.round(counts.requests / seconds),
      longestMs: Math.round(longestMs),
      longestPauseMs: Math.round(longestPauseMs),
      failures: Object.fromEntries(failures),
    }),
  );
  process.exit(0);
}
process.once('SIGTERM', () => void end());

// Ready when it measures: with all its connections, and warm.
const warm = setInterval(() => {
  if (counts.requests < 2 * Number(RATE)) return;
  clearInterval(warm);
  writeFileSync('/tmp/answered', '');
}, 50);
