import { agentEnv, readAgentConfig } from '@parley/agent';
import { readWorkConfig, workEnv } from '@parley/skills';
import { DEFAULTS as AGENT_A } from '../../services/agent-a/src/app.js';
import { DEFAULTS as AGENT_B } from '../../services/agent-b/src/app.js';
import { proxyEnv, readProxyConfig } from '../../services/proxy/src/config.js';
import { readRegistryConfig, registryEnv } from '../../services/registry/src/config.js';
import {
  componentOf,
  containersOf,
  find,
  NAMESPACE,
  ofKind,
  render,
  selects,
  SHAPES,
  workloads,
} from './support/render.js';
import type { EnvVariable } from './support/resources.js';

type Environment = Readonly<Record<string, string>>;

/** Each service of ours: the variables that it knows, and how it reads them. */
const SERVICES: Readonly<Record<string, { known: object; read: (env: Environment) => unknown }>> = {
  registry: { known: registryEnv.shape, read: readRegistryConfig },
  'agent-a': {
    known: { ...agentEnv(AGENT_A).shape, ...workEnv.shape },
    read: (env) => [readAgentConfig(AGENT_A, env), readWorkConfig(env)],
  },
  'agent-b': {
    known: { ...agentEnv(AGENT_B).shape, ...workEnv.shape },
    read: (env) => [readAgentConfig(AGENT_B, env), readWorkConfig(env)],
  },
  proxy: { known: proxyEnv.shape, read: readProxyConfig },
};

/** Read by the OpenTelemetry SDK, and what its resource is made of. */
const TELEMETRY = /^OTEL_[A-Z_]+$|^POD_NAME$/u;

const ours = SHAPES.flatMap((shape) =>
  workloads(render({ shape }))
    .filter((workload) => componentOf(workload) in SERVICES)
    .map((workload) => [`${componentOf(workload)} with ${shape || 'values.yaml'}`, workload, shape] as const),
);

/** What the process would see. */
function environmentOf(variables: readonly EnvVariable[]): Environment {
  const env: Record<string, string> = {};
  for (const { name, value, valueFrom } of variables) {
    const text = valueFrom === undefined ? (value ?? '') : valueFrom.secretKeyRef ? 's'.repeat(43) : 'parley-proxy-0';
    env[name] = text.replaceAll(/\$\((\w+)\)/gu, (_, other: string) => env[other] ?? `$(${other})`);
  }
  return env;
}

describe('the environment of', () => {
  it.each(ours)('%s has only names that the service knows', (_what, workload) => {
    const known = Object.keys(SERVICES[componentOf(workload)]?.known ?? {});
    for (const { name } of containersOf(workload)[0]?.env ?? []) {
      if (!TELEMETRY.test(name)) expect(known).toContain(name);
    }
  });

  it.each(ours)('%s is one that the service starts with', (_what, workload) => {
    const env = environmentOf(containersOf(workload)[0]?.env ?? []);
    expect(() => SERVICES[componentOf(workload)]?.read(env)).not.toThrow();
    expect(JSON.stringify(env)).not.toContain('$(');
  });

  it('a replica that is one of several has what it shares with the others', () => {
    const [agent] = workloads(render({ values: { agentB: { replicas: 3 } } })).filter(
      ({ name }) => name === 'parley-agent-b',
    );
    const env = environmentOf(agent?.spec.containers[0]?.env ?? []);
    expect(env).toMatchObject({
      AGENT_ID: 'agent_B',
      AGENT_PUBLIC_URL: `http://parley-agent-b.${NAMESPACE}.svc:8002`,
      AGENT_PUBLIC_GRPC: `parley-agent-b.${NAMESPACE}.svc:9002`,
      REDIS_URL: 'redis://parley-redis:6379/0',
    });
    expect(env).toHaveProperty('AGENT_OWNER_TOKEN');
  });

  it('a proxy tells others of its own pod', () => {
    const [proxy] = workloads(render()).filter(({ name }) => name === 'parley-proxy');
    const env = environmentOf(proxy?.spec.containers[0]?.env ?? []);
    const { hostname } = new URL(env['PROXY_PUBLIC_URL'] ?? '');
    const headless = find(render(), 'Service', proxy?.resource.spec.serviceName as string);
    expect(headless.spec.clusterIP).toBe('None');
    expect(hostname).toBe(`parley-proxy-0.${headless.metadata.name}.${NAMESPACE}.svc`);
    expect(env).not.toHaveProperty('PROXY_AGENT_ID');
  });

  it.each([
    ['one server', 'external-redis.yaml', { REDIS_URL: 'rediss://redis.example.com:6380/2', REDIS_USERNAME: 'parley' }],
    [
      'sentinels',
      'sentinel.yaml',
      {
        REDIS_SENTINELS: 'sentinel-0.redis:26379,sentinel-1.redis:26379,sentinel-2.redis:26379',
        REDIS_MASTER_NAME: 'parley',
      },
    ],
    [
      'a cluster',
      'cluster.yaml',
      { REDIS_CLUSTER_NODES: 'cluster-0.redis:6379,cluster-1.redis:6379,cluster-2.redis:6379', REDIS_TLS: 'true' },
    ],
  ])('a Redis outside names %s, with the password from a Secret', (_what, shape, expected) => {
    for (const component of ['registry', 'agent-a', 'agent-b']) {
      const [workload] = workloads(render({ shape })).filter((one) => componentOf(one) === component);
      const env = environmentOf(workload?.spec.containers[0]?.env ?? []);
      expect(env).toMatchObject({ ...expected, REDIS_PASSWORD: 's'.repeat(43) });
    }
  });

  it('takes what extraEnv says, in place of what the chart would say', () => {
    const [agent] = workloads(render({ shape: 'production.yaml' })).filter((one) => componentOf(one) === 'agent-a');
    const env = environmentOf(agent?.spec.containers[0]?.env ?? []);
    expect(env).toMatchObject({ AGENT_MAX_AGREEMENTS: '1000', AGENT_LOG_LEVEL: 'debug' });
  });
});

describe('ports', () => {
  it.each(SHAPES)('of Services and probes with %p are ports of the containers', (shape) => {
    const resources = render({ shape });
    const all = workloads(resources);
    for (const service of ofKind(resources, 'Service')) {
      const [chosen, ...others] = all.filter(({ labels }) => selects(service.spec.selector, labels));
      expect(others).toEqual([]);
      const there = chosen?.spec.containers.flatMap(({ ports = [] }) => ports.map(({ name }) => name));
      for (const { targetPort } of service.spec.ports as { targetPort: string }[]) expect(there).toContain(targetPort);
    }
    for (const { startupProbe, livenessProbe, readinessProbe, ports = [] } of all.flatMap(containersOf)) {
      for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
        if (probe?.httpGet !== undefined) expect(ports.map(({ name }) => name)).toContain(probe.httpGet.port);
      }
    }
  });

  it.each(ours)('of %s are those it listens on', (_what, workload) => {
    const [container] = containersOf(workload);
    const env = environmentOf(container?.env ?? []);
    const listening = Object.entries(env).flatMap(([name, value]) =>
      /_(?:HTTP|GRPC)_PORT$/u.test(name) ? [Number(value)] : [],
    );
    expect(container?.ports?.map(({ containerPort }) => containerPort)).toEqual(listening);
  });

  it.each(SHAPES)('and names that variables with %p lead to inside are Services', (shape) => {
    const resources = render({ shape });
    const served = ofKind(resources, 'Service').flatMap(({ metadata, spec }) =>
      (spec.ports as { port: number }[]).map(({ port }) => `${metadata.name}:${port}`),
    );
    const urls = workloads(resources)
      .flatMap(containersOf)
      .flatMap(({ env = [] }) => Object.values(environmentOf(env)))
      .filter((value) => /^(?:https?|redis):\/\/(?:\S+\.)?parley-/u.test(value));
    expect(urls.length).toBeGreaterThan(2);
    for (const url of urls) {
      const { hostname, port } = new URL(url);
      const [first = '', second] = hostname.split('.');
      // A pod below its Service, or a Service.
      expect(served).toContain(`${second?.endsWith('-headless') === true ? second : first}:${port}`);
    }
  });
});

describe('probes', () => {
  it.each(ours)('of %s: only readiness looks at more than the process', (_what, workload) => {
    const [container] = containersOf(workload);
    expect(container?.startupProbe?.httpGet?.path).toBe('/healthz');
    expect(container?.livenessProbe?.httpGet?.path).toBe('/healthz');
    expect(container?.readinessProbe?.httpGet?.path).toBe('/readyz');
    // A start on a busy node may take a while; a living process is not ended for one slow answer.
    const { periodSeconds = 0, failureThreshold = 0 } = container?.startupProbe ?? {};
    expect(periodSeconds * failureThreshold).toBeGreaterThanOrEqual(60);
    expect(container?.livenessProbe?.failureThreshold).toBeGreaterThanOrEqual(3);
  });

  it.each(SHAPES)('are there for every container that stays, with %p', (shape) => {
    for (const workload of workloads(render({ shape }))) {
      if (workload.resource.kind === 'Pod') continue;
      for (const container of workload.spec.containers) {
        expect(
          Object.keys(container)
            .filter((key) => key.endsWith('Probe'))
            .sort(),
        ).toEqual(['livenessProbe', 'readinessProbe', 'startupProbe']);
      }
    }
  });
});

describe('configuration', () => {
  it.each(SHAPES)('that pods mount with %p is there', (shape) => {
    const resources = render({ shape });
    const maps = ofKind(resources, 'ConfigMap').map(({ metadata }) => metadata.name);
    for (const { spec } of workloads(resources)) {
      for (const { configMap } of spec.volumes ?? [])
        if (configMap !== undefined) expect(maps).toContain(configMap.name);
    }
  });

  it('of Redis never drops a record by itself, and leaves memory for rewriting its file', () => {
    const config = find(render(), 'ConfigMap', 'parley-redis').data?.['redis.conf'] ?? '';
    expect(config).toMatch(/^maxmemory-policy noeviction$/mu);
    expect(config).toMatch(/^appendonly yes$/mu);
    const [, megabytes] = /^maxmemory (\d+)mb$/mu.exec(config) ?? [];
    const redis = workloads(render()).find(({ name }) => name === 'parley-redis');
    const limit = redis?.spec.containers[0]?.resources?.limits?.['memory'] ?? '';
    expect(Number.parseInt(limit, 10)).toBeGreaterThan(2 * Number(megabytes));
  });

  it('of the collector listens for others, limits its memory first, and sends to Jaeger', () => {
    const config = find(render(), 'ConfigMap', 'parley-otel-collector').data?.['config.yaml'] ?? '';
    expect(config).toContain('endpoint: 0.0.0.0:4318');
    expect(config).toContain('processors: [memory_limiter, batch]');
    expect(config).toContain('endpoint: parley-jaeger:4317');
    const elsewhere = render({ shape: 'cluster.yaml' });
    expect(find(elsewhere, 'ConfigMap', 'parley-otel-collector').data?.['config.yaml']).toContain(
      'tempo.monitoring:4317',
    );
  });
});

describe('an Ingress', () => {
  it('leads to ports of Services', () => {
    const resources = render({ shape: 'production.yaml' });
    const [ingress] = ofKind(resources, 'Ingress');
    expect(ingress?.spec).toMatchObject({
      ingressClassName: 'nginx',
      rules: [
        {
          host: 'parley.example.com',
          http: {
            paths: [
              {
                path: '/',
                pathType: 'Prefix',
                backend: { service: { name: 'parley-registry', port: { number: 8000 } } },
              },
              {
                path: '/a',
                pathType: 'Exact',
                backend: { service: { name: 'parley-agent-a', port: { number: 8001 } } },
              },
            ],
          },
        },
      ],
    });
    expect(ofKind(render(), 'Ingress')).toEqual([]);
  });
});
