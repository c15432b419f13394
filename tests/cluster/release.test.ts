import { eventually } from '@parley/testkit';
import { CHART, TestNamespace } from './support/cluster.js';
import { spansOf } from './support/jaeger.js';
import { startLoad } from './support/load.js';
import { isReady, metricOf, podsOf, restartsOf, untilSettled } from './support/pods.js';
import { report } from './support/report.js';

const { jest } = import.meta;
// One node of two cores that also runs the load and the tests: what stalls for seconds loses requests that no service
// would lose. What is wrong with a release is wrong each time; each run is reported, also those that failed. A test is
// repeated at once, on the release as it is then: after the last one there is none.
jest.retryTimes(2, { logErrorsBeforeRetry: true, retryImmediately: true });

const RELEASE = 'parley';
const RATE = 200;
const PATIENCE_MS = 240_000;
/** What runs at once, and none of it twice. */
const COMPONENTS = ['agent-a', 'agent-b', 'jaeger', 'otel-collector', 'proxy', 'redis', 'registry', 'registry'];
/** The load asks one agent only. */
const ROOM = ['--set-string', 'agentB.extraEnv[0].name=AGENT_MAX_CONCURRENT_CALLS,agentB.extraEnv[0].value=64'];

const namespace = new TestNamespace();

const upgrade = (...values: string[]) =>
  namespace.helm('upgrade', RELEASE, CHART, '--reuse-values', '--wait', '--timeout', '150s', ...values);
const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return Math.round((performance.now() - began) / 100) / 10;
};

beforeAll(async () => {
  await namespace.create();
}, 60_000);

afterAll(async () => {
  await namespace.tryHelm('uninstall', RELEASE);
  await namespace.remove();
}, PATIENCE_MS);

// Each of these goes on with the release as the one before left it.
describe('a release in a restricted namespace', () => {
  it(
    'is installed, and all of it becomes ready',
    async () => {
      const readySeconds = await seconds(() =>
        namespace.helm('install', RELEASE, CHART, ...ROOM, '--wait', '--timeout', '180s'),
      );
      const pods = await podsOf(namespace, RELEASE);
      report('install', { readySeconds, pods: pods.length });
      expect(pods.map(({ metadata }) => metadata.labels['app.kubernetes.io/component']).sort()).toEqual(COMPONENTS);
      for (const pod of pods)
        expect([pod.metadata.name, isReady(pod), restartsOf(pod)]).toEqual([pod.metadata.name, true, 0]);
    },
    PATIENCE_MS,
  );

  it(
    'discovers, negotiates and works in its own test, whose trace is in Jaeger',
    async () => {
      const output = await namespace.helm('test', RELEASE, '--logs');
      expect(output).toContain('all of it works');
      const [, traceId = ''] = /^trace id: ([0-9a-f]{32})$/mu.exec(output) ?? [];
      const jaeger = await namespace.forward(`service/${RELEASE}-jaeger`, 16686);
      const spans = await spansOf(jaeger.url, traceId);
      await jaeger.stop();
      const services = [...new Set(spans.map(({ service }) => service))].sort();
      report('helm test', { traceId, spans: spans.length, services });
      expect(services).toEqual(expect.arrayContaining(['agent-a', 'agent-b', 'registry']));
      expect(spans.map(({ operation }) => operation)).toEqual(
        expect.arrayContaining(['GET /discover', 'POST /negotiate', 'POST /invoke', 'POST /delegate']),
      );
      // Nor does the test leave a pod behind.
      expect(await podsOf(namespace, RELEASE, 'test')).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'answers to the commands of its notes as they are printed',
    async () => {
      const notes = await namespace.helm('get', 'notes', RELEASE);
      const commands = notes.split('\n').flatMap((line) => (line.startsWith('  ') ? [line.trim()] : []));
      for (const command of commands.filter((line) => line.startsWith('kubectl') && !line.endsWith('&'))) {
        const { code, output } = await namespace.shell(command);
        expect([command, code]).toEqual([command, 0]);
        expect(output).not.toBe('');
      }
      const forwards = commands.filter((line) => line.endsWith('&'));
      const asks = commands.filter((line) => line.startsWith('curl'));
      expect(forwards).toHaveLength(asks.length);
      for (const [index, forward] of forwards.entries()) {
        const running = await namespace.start('bash', ['-c', `exec ${forward.replace(/ &$/u, '')}`]);
        await running.waitForLine(/^Forwarding from 127\.0\.0\.1/u, 20_000);
        const { output } = await namespace.shell(`${asks[index] ?? ''} --silent --fail`);
        expect(JSON.parse(output)).toBeInstanceOf(Object);
        await running.stop();
      }
      expect(asks.join()).toContain('discover');
    },
    PATIENCE_MS,
  );

  it(
    'is upgraded and rolled back under load without a failed request',
    async () => {
      const load = await startLoad(namespace, RELEASE, RATE);
      const before = await podsOf(namespace, RELEASE);
      const rolled = ['registry', 'agentA', 'agentB', 'proxy'].map((one) => `${one}.podAnnotations.rolled=forward`);
      const upgradeSeconds = await seconds(() => upgrade('--set-string', rolled.join(',')));
      const after = await podsOf(namespace, RELEASE);
      const rollbackSeconds = await seconds(() =>
        namespace.helm('rollback', RELEASE, '1', '--wait', '--timeout', '150s'),
      );
      await untilSettled(namespace, RELEASE);
      const result = await load.stop();
      report('upgrade and rollback', { upgradeSeconds, rollbackSeconds, ...result });
      expect(result.failures).toEqual({});
      expect(result.requests).toBeGreaterThan((upgradeSeconds + rollbackSeconds) * RATE * 0.8);
      // Registry, agents and proxy are others; the rest stayed.
      const names = new Set(before.map(({ metadata }) => metadata.name));
      expect(after.filter(({ metadata }) => !names.has(metadata.name))).toHaveLength(4);
    },
    PATIENCE_MS,
  );

  it(
    'goes on under load while an upgrade runs out of memory, which is taken back by itself',
    async () => {
      const load = await startLoad(namespace, RELEASE, RATE);
      const watch = await namespace.start('kubectl', [
        ...['--namespace', namespace.name, 'get', 'pods', '--watch', '--no-headers'],
        ...['--selector', 'app.kubernetes.io/component=registry'],
      ]);
      const failed = namespace.tryHelm(
        ...['upgrade', RELEASE, CHART, '--reuse-values', '--wait', '--rollback-on-failure', '--timeout', '20s'],
        ...['--set', 'registry.resources.limits.memory=24Mi,registry.resources.requests.memory=24Mi'],
      );
      await watch.waitForLine(/OOMKilled/u, 30_000);
      await watch.stop();
      const { code } = await failed;
      await untilSettled(namespace, RELEASE);
      const result = await load.stop();
      report('an upgrade that runs out of memory', result);
      expect(code).not.toBe(0);
      expect(result.failures).toEqual({});
      const [, status = ''] = /^STATUS: (\w+)$/mu.exec(await namespace.helm('status', RELEASE)) ?? [];
      expect(status).toBe('deployed');
    },
    PATIENCE_MS,
  );

  it(
    'spreads work over three replicas of agent B, each of which goes on with what another one agreed',
    async () => {
      await upgrade('--set', 'agentB.replicas=3');
      await untilSettled(namespace, RELEASE);
      const replicas = await podsOf(namespace, RELEASE, 'agent-b');
      const count = (name: string) =>
        Promise.all(replicas.map(({ metadata }) => metricOf(namespace, metadata.name, 8002, name)));
      const before = await count('parley_call_seconds_count');
      await workOfMany(30, 60);
      const after = await count('parley_call_seconds_count');
      const done = after.map((calls, index) => calls - (before[index] ?? 0));
      report('work over three replicas', { done });
      expect(done.reduce((sum, calls) => sum + calls, 0)).toBe(90);
      for (const calls of done) expect(calls).toBeGreaterThan(0);
    },
    PATIENCE_MS,
  );

  it(
    'loses no request when pods are deleted by force of which there are several',
    async () => {
      const load = await startLoad(namespace, RELEASE, RATE);
      const killed = await Promise.all(['registry', 'agent-b'].map((one) => podsOf(namespace, RELEASE, one)));
      const names = killed.map(([pod]) => pod?.metadata.name ?? '');
      await namespace.kubectl('delete', 'pod', ...names, '--force', '--grace-period', '0');
      await untilSettled(namespace, RELEASE);
      const result = await load.stop();
      report('pods deleted by force', result);
      expect(result.failures).toEqual({});
    },
    PATIENCE_MS,
  );

  it(
    'answers every discovery while Redis is killed, and agrees again once it is back',
    async () => {
      const load = await startLoad(namespace, RELEASE, RATE);
      const outageSeconds = await seconds(async () => {
        await namespace.kubectl('delete', 'pod', `${RELEASE}-redis-0`, '--force', '--grace-period', '0');
        await eventually(() => untilSettled(namespace, RELEASE), { timeoutMs: 90_000, what: 'Redis again' });
      });
      const result = await load.stop();
      report('Redis killed', { outageSeconds, ...result });
      // Nothing but what has to be written there, and only as long as it was away.
      expect(Object.keys(result.failures).filter((failure) => !failure.includes('store_unavailable'))).toEqual([]);
      expect(result.failed).toBeLessThan(result.requests / 10);
      const { output } = await namespace.tryHelm('test', RELEASE, '--logs');
      expect(output).toContain('all of it works');
    },
    PATIENCE_MS,
  );

  it(
    'shares nothing with a second release beside it',
    async () => {
      const values = ['--values', `${CHART}/ci/minimal.yaml`, '--set', 'tests.enabled=true'];
      await namespace.helm('install', 'second', CHART, ...values, '--wait', '--timeout', '120s');
      const pods = await podsOf(namespace, 'second');
      expect(pods.map(({ metadata }) => metadata.labels['app.kubernetes.io/component']).sort()).toEqual([
        'agent-a',
        'agent-b',
        'registry',
      ]);
      const { output } = await namespace.tryHelm('test', 'second', '--logs');
      expect(output).toContain(`agent_B at http://second-agent-b.${namespace.name}.svc:8002`);
      expect(output).toContain('all of it works');
      await upgrade('--set', 'networkPolicy.enabled=true');
      // Behind its policies the first still works, and is closed to the second; Redis is closed to the proxy as well.
      expect((await namespace.tryHelm('test', RELEASE, '--logs')).output).toContain('all of it works');
      expect(await canConnect('deployment/second-agent-a', `${RELEASE}-registry`, 8000)).toBe(false);
      expect(await canConnect(`pod/${RELEASE}-proxy-0`, `${RELEASE}-redis`, 6379)).toBe(false);
      expect(await canConnect(`deployment/${RELEASE}-registry`, `${RELEASE}-redis`, 6379)).toBe(true);
      await namespace.helm('uninstall', 'second', '--wait', '--timeout', '90s');
      expect(await podsOf(namespace, RELEASE)).toHaveLength(COMPONENTS.length + 2);
    },
    PATIENCE_MS,
  );

  it(
    'leaves nothing when it is uninstalled, but the claims of Redis and proxy',
    async () => {
      const goneSeconds = await seconds(async () => {
        await namespace.helm('uninstall', RELEASE, '--wait', '--timeout', '90s');
        await eventually(async () => expect(await leftOf()).toEqual([]), {
          timeoutMs: 60_000,
          intervalMs: 500,
          what: 'the end of all',
        });
      });
      report('uninstall', { goneSeconds });
      const claims = await namespace.list<{ metadata: { name: string } }>('persistentvolumeclaims');
      expect(claims.map(({ metadata }) => metadata.name).sort()).toEqual([
        `data-${RELEASE}-proxy-0`,
        `data-${RELEASE}-redis-0`,
      ]);
    },
    PATIENCE_MS,
  );
});

/** Kinds of the chart, and what is made of them. */
const KINDS = [
  ...['deployments', 'statefulsets', 'replicasets', 'pods', 'services', 'endpointslices', 'configmaps', 'secrets'],
  ...['serviceaccounts', 'poddisruptionbudgets', 'horizontalpodautoscalers', 'networkpolicies', 'ingresses', 'leases'],
];

async function leftOf(): Promise<string[]> {
  const all = await namespace.list<{ kind: string; metadata: { name: string } }>(KINDS.join(','));
  return all
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    .filter((name) => !/^(?:ConfigMap kube-root-ca\.crt|ServiceAccount default|ConfigMap load-\d+)$/u.test(name));
}

async function canConnect(from: string, host: string, port: number): Promise<boolean> {
  const script = `
    const socket = require('node:net').connect(${port}, '${host}');
    const end = (word) => { console.log(word); process.exit(); };
    socket.on('connect', () => end('yes')).on('error', () => end('no'));
    setTimeout(() => end('no'), 2_000);
  `;
  return (await namespace.kubectl('exec', from, '--', 'node', '--eval', script)).trim() === 'yes';
}

/**
 * Each a stranger with connections of its own, as many clients are: it agrees on one and has work done on the next. Then
 * agent A, which keeps its connections, six pieces at a time.
 */
async function workOfMany(callers: number, delegations: number): Promise<void> {
  const script = `
    import { request } from 'node:http';
    const ask = (url, body, headers = {}) => new Promise((resolve, reject) => {
      const options = { method: 'POST', agent: false, headers: { 'content-type': 'application/json', ...headers } };
      const asked = request(url, options, async (answer) => {
        const text = (await answer.toArray()).join('');
        if (answer.statusCode === 200) resolve(JSON.parse(text));
        else reject(new Error(answer.statusCode + ' ' + text));
      });
      asked.on('error', reject).end(JSON.stringify(body));
    });
    const parameters = { target_language: 'de' };
    const run = Date.now();
    for (let caller = 0; caller < ${callers}; caller += 1) {
      const agreed = await ask('http://${RELEASE}-agent-b:8002/negotiate', {
        session_id: 's' + run + caller, agent_id: 'caller-' + run + caller, capabilities: ['translate'], parameters, limits: { max_calls: 1 },
      });
      const { agreement_id, terms_digest } = agreed.agreement;
      const call = { agreement_id, terms_digest, call_id: 'c' + run + caller, capability: 'translate', input: { text: 'hello' } };
      await ask('http://${RELEASE}-agent-b:8002/invoke', call, { 'parley-agreement-proof': agreed.agreement_proof });
    }
    const delegate = () => ask('http://${RELEASE}-agent-a:8001/delegate', {
      capability: 'translate', input: { text: 'hello' }, parameters,
    });
    for (let left = ${delegations}; left > 0; left -= 6) await Promise.all(Array.from({ length: 6 }, delegate));
  `;
  await namespace.kubectl(
    ...['exec', `deployment/${RELEASE}-agent-a`, '--', 'node', '--input-type=module', '--eval', script],
  );
}
