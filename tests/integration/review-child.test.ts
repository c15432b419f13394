import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { endEverything, freePort, waitFor } from '@parley/testkit';
import { Collector, type ReceivedSpan } from '../../packages/service-kit/src/telemetry/collector.test-helper.js';
import { childrenOf } from '../../packages/skills/src/subagents/children-of.test-helper.js';
import { get, post, type Answer } from './support/http.js';
import { START_MS, startAgentA, startAgentB, startRegistry, untilReady, type Service } from './support/services.js';

const { jest } = import.meta;
jest.setTimeout(150_000);

const CALLER = 'b7ad6b7169203331';
/** Takes as long as a review may, three seconds: each further level doubles the parser's work. */
const SLOW = { source: 'async('.repeat(200), filename: 'a.ts' };
const BAD = { source: 'if (a == 1) eval(a);', filename: 'a.js' };
/** An id of its own, so that its children can be told from those of other tests. */
const AGENT_ID = `agent_B_${process.pid}`;

interface Setting {
  readonly agentB: Service;
  review(input: object, headers?: Record<string, string>): Promise<Answer>;
}

async function setting(env: Record<string, string> = {}, telemetry: Record<string, string> = {}): Promise<Setting> {
  const registry = await startRegistry();
  const registryUrl = registry.url;
  const ofAgentB = { AGENT_ID, AGENT_SUBAGENT_PROVIDER: 'acp', AGENT_SUBAGENT_START_SECONDS: '60', ...env };
  const [agentA, agentB] = await Promise.all([
    startAgentA({ registryUrl, env: { OTEL_SERVICE_NAME: 'agent-a', ...telemetry } }),
    startAgentB({ registryUrl, ready: false, env: { OTEL_SERVICE_NAME: 'agent-b', ...telemetry, ...ofAgentB } }),
  ]);
  // It registers when its first child is warm.
  await untilReady(agentB, 3 * START_MS);
  return {
    agentB,
    review: (input, headers = {}) =>
      post(`${agentA.url}/delegate`, { capability: 'code_review', input }, { headers, timeoutMs: 60_000 }),
  };
}

const children = (): Promise<number[]> => childrenOf(AGENT_ID);

const gone = () => waitFor(async () => (await children()).length === 0, { timeoutMs: 10_000 });

afterEach(endEverything, 30_000);

describe('a review that agent_B has done in a child process', () => {
  it('is what it is without, and health checks are answered while it lasts', async () => {
    const { agentB, review } = await setting();
    const first = await review(BAD);
    expect(first).toMatchObject({ status: 200, body: { partner: { agent_id: AGENT_ID } } });
    expect(first.body.output).toMatchObject({ verdict: 'request_changes', offline: true, run: { model: 'offline' } });
    const slow = review(SLOW);
    const state = { isOver: false };
    void slow.finally(() => (state.isOver = true));
    let slowest = 0;
    while (!state.isOver) slowest = Math.max(slowest, (await get(`${agentB.url}/healthz`)).ms);
    expect((await slow).body.output).toMatchObject({ findings: [{ rule: 'parley/not-analysed' }, {}] });
    // In the same process the answer would have to wait for three seconds.
    expect(slowest).toBeLessThan(1_500);
  });

  it('fails with its process, and the next one is done by another', async () => {
    const { review } = await setting();
    const [pid] = await children();
    const failing = review(SLOW);
    await waitFor(async () => isBusy(pid ?? 0), { timeoutMs: 20_000 });
    process.kill(pid ?? 0, 'SIGKILL');
    expect(await failing).toMatchObject({ status: 503, body: { code: 'subagent_failed' } });
    expect(await review(BAD)).toMatchObject({ status: 200 });
    expect(await children()).not.toContain(pid);
  });

  it('ends with the service, however that ends', async () => {
    const { agentB } = await setting();
    expect(await children()).toHaveLength(1);
    agentB.kill('SIGTERM');
    expect(await agentB.exited).toEqual({ code: 0, signal: null });
    expect(await children()).toEqual([]);

    const other = await setting();
    const failing = other.review(SLOW).catch(() => undefined);
    await waitFor(async () => (await children()).length === 1);
    other.agentB.kill('SIGKILL');
    await gone();
    await failing;
  });
});

describe('the trace of a review in a child process', () => {
  let collector: Collector;

  beforeEach(async () => {
    collector = await Collector.start();
  });
  afterEach(() => collector.stop());

  const telemetry = (more: Record<string, string> = {}) => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    ...more,
  });

  /** Names from the caller's span to each span of the trace. */
  const paths = (traceId: string): string[] => {
    const spans = new Map(
      collector.spans.filter((span) => span.traceId === traceId).map((span) => [span.spanId, span]),
    );
    const pathOf = (span: ReceivedSpan): string => {
      const parent = spans.get(span.parentSpanId ?? '');
      const name = `${span.resource['service.name'] ?? '?'} ${span.name}`;
      return parent === undefined ? name : `${pathOf(parent)} > ${name}`;
    };
    return [...spans.values()].map(pathOf);
  };

  const steps = [
    `agent-b invoke_agent ${AGENT_ID}`,
    'agent-b execute_tool code_review',
    'agent-b subagent acp',
    `agent-b-review invoke_agent ${AGENT_ID}.review`,
    'agent-b-review execute_tool code_review',
  ].join(' > ');

  it('leads from the agent over the subagent and the run of the child to its tool', async () => {
    const { review } = await setting({}, telemetry());
    const traceId = randomBytes(16).toString('hex');
    expect((await review(BAD, { traceparent: `00-${traceId}-${CALLER}-01` })).status).toBe(200);
    await waitFor(() => paths(traceId).some((path) => path.endsWith(steps)), { timeoutMs: 20_000 });
  });

  it('is delivered before a child ends that is not kept', async () => {
    // Nothing is sent in time by itself.
    const { review } = await setting(
      { AGENT_SUBAGENT_POOL_SIZE: '0' },
      telemetry({ OTEL_BSP_SCHEDULE_DELAY: '600000' }),
    );
    const traceId = randomBytes(16).toString('hex');
    expect((await review(BAD, { traceparent: `00-${traceId}-${CALLER}-01` })).status).toBe(200);
    await gone();
    await waitFor(() =>
      paths(traceId).some((path) =>
        path.endsWith(`agent-b-review invoke_agent ${AGENT_ID}.review > agent-b-review execute_tool code_review`),
      ),
    );
  });

  it('holds up neither the answer nor the end of a child when the collector is away', async () => {
    const nobody = `http://127.0.0.1:${String(await freePort())}`;
    const { review } = await setting(
      { AGENT_SUBAGENT_POOL_SIZE: '0' },
      telemetry({ OTEL_EXPORTER_OTLP_ENDPOINT: nobody }),
    );
    expect((await review(BAD)).status).toBe(200);
    await gone();
  });
});

/** Whether a process has used the processor for a while since it was looked at last. */
const usedBefore = new Map<number, number>();
async function isBusy(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const used = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[11]);
  const before = usedBefore.get(pid) ?? used;
  usedBefore.set(pid, before);
  // In hundredths of a second.
  return used - before > 50;
}
