import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { checkReadme } from '../../scripts/lib/readme-check.mjs';
import { composeStack, eventually, type ComposeStack } from '@parley/testkit';

const directory = join(import.meta.dirname, '..', '..');
/** Building and starting containers takes a while on a busy machine. */
const PATIENCE_MS = 420_000;

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

interface Span {
  readonly spanID: string;
  readonly operationName: string;
  readonly processID: string;
  readonly references: readonly { refType: string; spanID: string }[];
}

interface Trace {
  readonly spans: readonly Span[];
  readonly processes: Readonly<Record<string, { serviceName: string }>>;
}

/** Names of a step; what lies between two of them is plumbing. */
const STEP = /^(?:invoke_agent|chat|execute_tool|subagent|(?:GET|POST|PUT|DELETE) \/)/u;

/** For each step of a trace that hangs on the caller's span: the steps above it and itself, by service and name. */
function stepsOf(trace: Trace | undefined, caller: string): string[] {
  const spans = new Map((trace?.spans ?? []).map((span) => [span.spanID, span]));
  const pathOf = (span: Span): string[] => {
    const parentId = span.references.find(({ refType }) => refType === 'CHILD_OF')?.spanID;
    const parent = parentId === undefined ? undefined : spans.get(parentId);
    if (parent === undefined && parentId !== caller) return ['(lost)'];
    const above = parent === undefined ? [] : pathOf(parent);
    if (!STEP.test(span.operationName)) return above;
    return [...above, `${trace?.processes[span.processID]?.serviceName ?? '?'} ${span.operationName}`];
  };
  return [...spans.values()].map((span) => pathOf(span).join(' > '));
}

describe('the whole system in containers', () => {
  let stack: ComposeStack;
  let registry: string;
  let agentA: string;

  beforeAll(async () => {
    stack = await composeStack({
      directory,
      env: { LOG_FORMAT: 'text', OTEL_BSP_SCHEDULE_DELAY: '500' },
      startupTimeoutMs: 180_000,
    });
    registry = stack.url('registry', 8000);
    agentA = stack.url('agent-a', 8001);
    await eventually(
      async () => {
        expect(await idsOf('translate')).toEqual(['agent_A', 'agent_B']);
      },
      { timeoutMs: 60_000, what: 'both agents at the registry' },
    );
  }, PATIENCE_MS);

  afterAll(async () => {
    await stack.down();
  }, PATIENCE_MS);

  async function call(
    method: string,
    url: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(url, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await response.text();
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
  }

  async function idsOf(capability: string): Promise<string[]> {
    const { body } = await call('GET', `${registry}/discover?capabilities=${capability}`);
    return (body['agents'] as { agent_id: string }[]).map(({ agent_id }) => agent_id);
  }

  async function register(agentId: string, ttlSeconds: number): Promise<Answer> {
    return call('POST', `${registry}/register`, {
      agent_id: agentId,
      name: agentId,
      endpoint: 'http://127.0.0.1:9',
      capabilities: [`only-${agentId}`],
      ttl_seconds: ttlSeconds,
    });
  }

  it('answers every curl line of the README as the README prints it', async () => {
    const { checked, leftOut } = await checkReadme({
      registry,
      agentA,
      agentB: stack.url('agent-b', 8002),
      proxy: stack.url('proxy', 8003),
      jaeger: stack.url('jaeger', 16686),
    });
    expect(checked).toBeGreaterThan(10);
    expect(leftOut).toBe(0);
  }, 120_000);

  it('finds who is there, and nobody for what nobody can', async () => {
    expect(await idsOf('code_review')).toEqual(['agent_B']);
    expect(await idsOf('nobody-can-this')).toEqual([]);
  });

  it('has agent B review code for agent A under an agreement, and the registry witness it', async () => {
    const { status, body } = await call('POST', `${agentA}/delegate`, {
      capability: 'code_review',
      input: { source: 'var a = 1\nif (a == "1") { eval(a) }\n', filename: 'sample.js' },
      parameters: { severity: 'info' },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ partner: { agent_id: 'agent_B' }, applied: { severity: 'info' } });
    const { agreement_id: id } = body['agreement'] as { agreement_id: string };
    await eventually(
      async () => {
        expect(await call('GET', `${registry}/agreements/${id}`)).toMatchObject({
          body: { state: 'ended', terms: { initiator: 'agent_A', responder: 'agent_B' } },
        });
      },
      { timeoutMs: 15_000, what: 'the witnessed agreement' },
    );
  });

  it('answers a refusal as a decline with every name', async () => {
    const { body } = await call('POST', `${registry}/negotiate`, {
      session_id: 'compose-refusal',
      agent_id: 'somebody',
      capabilities: ['translate', 'code_review'],
      parameters: { target_language: 'ru', mood: 'kind' },
      required_parameters: ['mood'],
      target_agent_id: 'agent_B',
    });
    expect(body).toMatchObject({ accepted: false, outcome: 'declined', reason: { code: 'parameter_unsupported' } });
  });

  it('drops an agent that stops renewing within its lease and one second', async () => {
    expect((await register('fleeting', 2)).status).toBe(201);
    expect(await idsOf('only-fleeting')).toEqual(['fleeting']);
    const started = Date.now();
    await eventually(
      async () => {
        expect(await idsOf('only-fleeting')).toEqual([]);
      },
      { timeoutMs: 5_000, intervalMs: 50, what: 'the end of the lease' },
    );
    expect(Date.now() - started).toBeLessThan(3_000);
  });

  it('leaves one trace of a handshake over agent A, registry, agent B and Redis', async () => {
    const traceId = Array.from({ length: 32 }, (_, i) => ((i * 7 + Date.now()) % 16).toString(16)).join('');
    const { status } = await call(
      'POST',
      `${agentA}/delegate`,
      { capability: 'code_review', input: { source: 'let a = 1;' } },
      { traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
    );
    expect(status).toBe(200);
    await eventually(
      async () => {
        const response = await fetch(`${stack.url('jaeger', 16686)}/api/traces/${traceId}`);
        expect(response.status).toBe(200);
        const [trace] = ((await response.json()) as { data: Trace[] }).data;
        const services = new Set(Object.values(trace?.processes ?? {}).map(({ serviceName }) => serviceName));
        expect([...services].sort()).toEqual(['agent-a', 'agent-b', 'agent-b-review', 'registry']);
        // Every span hangs on another one of this trace, or on the caller.
        const known = new Set((trace?.spans ?? []).map(({ spanID }) => spanID)).add('00f067aa0ba902b7');
        const orphans = (trace?.spans ?? []).filter(
          ({ references }) => !references.every(({ spanID }) => known.has(spanID)),
        );
        expect(orphans).toEqual([]);
        const ofAgentB = (trace?.spans ?? []).filter(
          ({ processID }) => trace?.processes[processID]?.serviceName === 'agent-b',
        );
        expect(ofAgentB.map(({ operationName }) => operationName)).toEqual(
          expect.arrayContaining([
            'POST /negotiate',
            'POST /invoke',
            'invoke_agent agent_B',
            'chat offline',
            'execute_tool code_review',
          ]),
        );
      },
      { timeoutMs: 30_000, intervalMs: 500, what: 'the trace of the handshake in Jaeger' },
    );
  }, 60_000);

  it('leaves one trace of a task that agent A hands on to agent B, with every step of both by name', async () => {
    const traceId = randomBytes(16).toString('hex');
    const caller = '00f067aa0ba902b7';
    const source = '// a file\nexport function f(a: any) {\n  debugger;\n  return a;\n}\n';
    const message = {
      messageId: traceId,
      role: 'ROLE_USER',
      parts: [
        { text: 'Review this file and summarise the findings in Russian' },
        { raw: Buffer.from(source).toString('base64'), filename: 'a.ts', mediaType: 'application/typescript' },
      ],
    };
    const { status, body } = await call(
      'POST',
      `${agentA}/a2a`,
      { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } },
      { 'a2a-version': '1.0', traceparent: `00-${traceId}-${caller}-01` },
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({ result: { task: { status: { state: 'TASK_STATE_COMPLETED' } } } });
    await eventually(
      async () => {
        const response = await fetch(`${stack.url('jaeger', 16686)}/api/traces/${traceId}`);
        expect(response.status).toBe(200);
        const [trace] = ((await response.json()) as { data: Trace[] }).data;
        const paths = stepsOf(trace, caller);
        const underAgentA = 'agent-a POST /a2a > agent-a invoke_agent agent_A';
        const underAgentB = `${underAgentA} > agent-a execute_tool delegate > agent-b POST /a2a > agent-b invoke_agent agent_B`;
        const underChild = `${underAgentB} > agent-b execute_tool code_review > agent-b subagent acp > agent-b-review invoke_agent agent_B.review`;
        for (const step of [
          'agent-a chat offline',
          'agent-a execute_tool delegate > registry GET /discover',
          'agent-a execute_tool delegate > agent-b POST /negotiate',
          'agent-a execute_tool summarize',
          'agent-a execute_tool translate',
        ]) {
          expect(paths).toContain(`${underAgentA} > ${step}`);
        }
        expect(paths).toEqual(
          expect.arrayContaining([
            `${underAgentB} > agent-b chat offline`,
            `${underAgentB} > agent-b execute_tool code_review`,
            `${underChild} > agent-b-review chat offline`,
            `${underChild} > agent-b-review execute_tool code_review`,
          ]),
        );
      },
      { timeoutMs: 30_000, intervalMs: 500, what: 'the trace of the delegated task in Jaeger' },
    );
  }, 60_000);

  it('has agent B review code in a process of its own, with what it needs of the environment and no more', async () => {
    const script = `
      const { readdirSync, readFileSync } = require('node:fs');
      const read = (pid, name) => { try { return readFileSync('/proc/' + pid + '/' + name, 'utf8'); } catch { return ''; } };
      // This script has the name that it looks for among its own arguments.
      const pids = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name) && name !== String(process.pid));
      const found = pids.filter((pid) => read(pid, 'cmdline').includes('review-child.js'));
      const names = (pid) => read(pid, 'environ').split('\\0').filter(Boolean).map((entry) => entry.split('=')[0]);
      const kilobytes = (pid) => Number(/VmHWM:\\s+(\\d+)/.exec(read(pid, 'status'))?.[1]);
      console.log(JSON.stringify(found.map((pid) => ({ names: names(pid), kilobytes: kilobytes(pid) }))));`;
    const { status } = await call('POST', `${agentA}/delegate`, {
      capability: 'code_review',
      input: { source: 'const f = async (a: any) => { await a; };\n'.repeat(1_000), filename: 'a.ts' },
    });
    expect(status).toBe(200);
    const { output } = await stack.exec('agent-b', ['node', '-e', script]);
    const children = JSON.parse(output) as { names: string[]; kilobytes: number }[];
    expect(children).toHaveLength(1);
    const [child] = children;
    expect(child?.names).toEqual(expect.arrayContaining(['AGENT_ID', 'OTEL_SERVICE_NAME', 'PATH']));
    expect(child?.names.filter((name) => /^(?:REDIS|OPENAI)|TOKEN/u.test(name))).toEqual([]);
    // With the service and one more of its kind it fits into the container.
    expect(child?.kilobytes).toBeLessThan(450 * 1_024);
  }, 60_000);

  it('keeps a journal of each piece of work in a volume of the agent', async () => {
    const count = async () =>
      Number(
        await stack.compose(
          'exec',
          '-T',
          'agent-b',
          'node',
          '-p',
          "fs.readdirSync('/sessions').filter((name) => name.endsWith('.jsonl')).length",
        ),
      );
    const before = await count();
    const { status, body } = await call('POST', `${agentA}/delegate`, {
      capability: 'code_review',
      input: { source: 'let b = 2;' },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ output: { run: { model: 'offline', offline: true } } });
    expect(await count()).toBe(before + 1);
  }, 60_000);

  it('has a trace of a registration down to Redis', async () => {
    const traceId = Array.from({ length: 32 }, (_, i) => ((i * 5 + Date.now() + 3) % 16).toString(16)).join('');
    await call(
      'POST',
      `${registry}/register`,
      { agent_id: 'traced', name: 'traced', endpoint: 'http://127.0.0.1:9', capabilities: ['traced'], ttl_seconds: 5 },
      { traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
    );
    await eventually(
      async () => {
        const response = await fetch(`${stack.url('jaeger', 16686)}/api/traces/${traceId}`);
        expect(response.status).toBe(200);
        const [trace] = ((await response.json()) as { data: Trace[] }).data;
        expect((trace?.spans ?? []).map(({ operationName }) => operationName).join(' ')).toMatch(
          /POST \/register.*evalsha|evalsha.*POST \/register/i,
        );
      },
      { timeoutMs: 30_000, intervalMs: 500, what: 'the trace of the registration' },
    );
  }, 60_000);

  it('gets all agents back within one renewal interval when Redis forgets everything', async () => {
    const { output } = await stack.exec('redis', ['redis-cli', 'flushall']);
    expect(output).toContain('OK');
    // A lease of 30 s is renewed every 10 s, with some jitter.
    await eventually(
      async () => {
        const { output: keys } = await stack.exec('redis', ['redis-cli', '--scan', '--pattern', '*agent:agent_*']);
        expect(keys).toContain('agent_A');
        expect(keys).toContain('agent_B');
      },
      { timeoutMs: 13_000, intervalMs: 250, what: 'both records in Redis' },
    );
    expect(await idsOf('translate')).toEqual(['agent_A', 'agent_B']);
  }, 60_000);

  it('serves reads from memory while Redis is away, refuses writes at once, and heals', async () => {
    await stack.compose('stop', 'redis');
    await eventually(
      async () => {
        const { status, body } = await call('GET', `${registry}/discover?capabilities=translate`);
        expect(status).toBe(200);
        expect(body).toHaveProperty('stale_since');
      },
      { timeoutMs: 10_000, what: 'a stale answer' },
    );
    const started = Date.now();
    expect(await register('refused', 5)).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
    expect(Date.now() - started).toBeLessThan(1_500);
    await stack.compose('start', 'redis');
    await eventually(
      async () => {
        expect((await register('taken', 5)).status).toBe(201);
      },
      { timeoutMs: 30_000, what: 'a registration after the outage' },
    );
    expect(await idsOf('translate')).toEqual(['agent_A', 'agent_B']);
  }, 120_000);

  it('replaces a killed agent, and removes a stopped one at once', async () => {
    await stack.kill('agent-b');
    await stack.compose('up', '--detach', '--no-build', 'agent-b');
    await eventually(
      async () => {
        const { status } = await call('GET', `${stack.url('agent-b', 8002)}/readyz`);
        expect(status).toBe(200);
      },
      { timeoutMs: 60_000, what: 'agent B registered again' },
    );
    await stack.compose('stop', 'agent-b');
    expect(await idsOf('code_review')).toEqual([]);
  }, 150_000);

  it('prints the trace log of the protocol', async () => {
    expect(await stack.logs('registry')).toMatch(
      /\[REGISTRY\] \d\d:\d\d:\d\d\.\d{3} Register agent_A \['translate', 'summarize'\] -> OK/,
    );
    const log = await stack.logs('agent-a');
    expect(log).toMatch(/\[AGENT_A\] \S+ Discover for \['code_review'\] -> found agent_B \(http:\/\/agent-b:8002\)/);
    expect(log).toMatch(/\[AGENT_A\] \S+ Sent negotiation to agent_B \(session_id: \S+\)/);
    expect(log).toMatch(/\[AGENT_A\] \S+ Handshake completed with agent_B/);
  });
});
