import { componentOf, containersOf, find, ofKind, render, selects, SHAPES, workloads } from './support/render.js';

const OURS = ['registry', 'agent-a', 'agent-b', 'proxy'];
/** What the phases of an orderly stop take at most, see docs/operations.md. */
const ORDERLY_STOP_SECONDS = 30;

const names = (kind: string, values: object = {}): string[] =>
  ofKind(render({ values }), kind).map(({ metadata }) => metadata.name);
const scaling = (minReplicas: number) => ({ autoscaling: { enabled: true, minReplicas, maxReplicas: 9 } });

describe('autoscaling', () => {
  it.each([
    ['registry', 'registry'],
    ['agentA', 'agent-a'],
    ['agentB', 'agent-b'],
  ])('of %s leaves the number of replicas to it', (key, component) => {
    const fixed = find(render(), 'Deployment', `parley-${component}`);
    expect(fixed.spec).toHaveProperty('replicas');
    const resources = render({ values: { [key]: scaling(2) } });
    const scaled = find(resources, 'Deployment', `parley-${component}`);
    expect(scaled.spec).not.toHaveProperty('replicas');
    const [autoscaler] = ofKind(resources, 'HorizontalPodAutoscaler');
    expect(autoscaler?.spec).toMatchObject({
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: `parley-${component}` },
      minReplicas: 2,
      maxReplicas: 9,
    });
    // Utilization is measured against what was asked for.
    expect(scaled.spec.template.spec.containers[0].resources.requests).toHaveProperty('cpu');
  });

  it('is off in the values', () => {
    expect(names('HorizontalPodAutoscaler')).toEqual([]);
  });
});

describe('disruption budgets', () => {
  it('are there where one pod may go and another stays', () => {
    expect(names('PodDisruptionBudget')).toEqual(['parley-registry']);
    expect(names('PodDisruptionBudget', { registry: { replicas: 1 } })).toEqual([]);
    expect(names('PodDisruptionBudget', { proxy: { replicas: 2 }, agentB: { replicas: 3 } }).sort()).toEqual([
      'parley-agent-b',
      'parley-proxy',
      'parley-registry',
    ]);
    expect(names('PodDisruptionBudget', { registry: scaling(1), agentA: scaling(2) })).toEqual(['parley-agent-a']);
    expect(names('PodDisruptionBudget', { registry: { podDisruptionBudget: { enabled: false } } })).toEqual([]);
  });

  it('let a node be emptied, and choose the pods of their own workload', () => {
    for (const { spec, metadata } of ofKind(render({ shape: 'production.yaml' }), 'PodDisruptionBudget')) {
      expect(spec.maxUnavailable).not.toBe(0);
      expect(spec).not.toHaveProperty('minAvailable');
      const chosen = workloads(render({ shape: 'production.yaml' })).filter(({ labels }) =>
        selects(spec.selector.matchLabels, labels),
      );
      expect(chosen.map(({ name }) => name)).toEqual([metadata.name]);
    }
  });
});

describe('a rollout', () => {
  it.each(SHAPES)('with %p takes no pod away before a new one is ready', (shape) => {
    for (const { metadata, spec } of ofKind(render({ shape }), 'Deployment')) {
      if (metadata.name.endsWith('-jaeger')) expect(spec.strategy).toEqual({ type: 'Recreate' });
      else expect(spec.strategy.rollingUpdate).toMatchObject({ maxUnavailable: 0 });
    }
  });

  it.each(SHAPES)('with %p gives balancers time to notice, and each service time to stop', (shape) => {
    for (const workload of workloads(render({ shape }))) {
      if (!OURS.includes(componentOf(workload))) continue;
      const [container] = containersOf(workload);
      const seconds = container?.lifecycle?.preStop?.sleep?.seconds ?? 0;
      expect(seconds).toBeGreaterThanOrEqual(2);
      expect(workload.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(seconds + ORDERLY_STOP_SECONDS);
    }
  });

  it('starts pods anew when a setting changes that they read at their start', () => {
    const stamps = (values: object) =>
      workloads(render({ values })).flatMap(({ name, resource }) =>
        resource.kind === 'Pod'
          ? []
          : [[name, resource.spec.template.metadata.annotations?.['checksum/settings'] as string | undefined] as const],
      );
    const before = new Map(stamps({}));
    const changed = (values: object) =>
      stamps(values)
        .filter(([name, stamp]) => before.get(name) !== stamp)
        .map(([name]) => name)
        .sort();
    expect(changed({})).toEqual([]);
    expect(changed({ redis: { maxmemory: '512mb' } })).toEqual(['parley-redis']);
    expect(changed({ redis: { auth: { password: 'another-password' } } })).toEqual([
      'parley-agent-a',
      'parley-agent-b',
      'parley-redis',
      'parley-registry',
    ]);
    expect(changed({ collector: { exportEndpoint: 'tempo:4317' } })).toEqual(['parley-otel-collector']);
    expect(changed({ proxy: { auth: { controlToken: 'control-token-of-this-test' } } })).toEqual(['parley-proxy']);
  });
});
