import {
  chartArguments,
  containersOf,
  helm,
  NAMESPACE,
  ofKind,
  render,
  selects,
  SHAPES,
  workloads,
} from './support/render.js';

const NAME = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/u;

describe.each(SHAPES)('the chart with %p', (shape) => {
  it('is taken by the strict check', () => {
    expect(helm(...chartArguments(['lint', '--strict'], { shape }))).toContain('0 chart(s) failed');
  });

  it('gives each resource a name of its own, a namespace and labels that tell whose it is', () => {
    const resources = render({ shape });
    const names = resources.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    for (const { metadata } of resources) {
      expect(metadata.name).toMatch(NAME);
      expect(metadata.name.length).toBeLessThanOrEqual(63);
      expect(metadata.namespace).toBe(NAMESPACE);
      expect(metadata.labels).toMatchObject({
        'app.kubernetes.io/name': 'parley',
        'app.kubernetes.io/instance': 'parley',
      });
    }
  });

  it('names images by a tag that does not move, and pulls none that is there', () => {
    for (const workload of workloads(render({ shape }))) {
      for (const { image, imagePullPolicy } of containersOf(workload)) {
        expect(image).toMatch(/^[\w./-]+:[\w.-]+$/u);
        expect(image).not.toMatch(/:latest$/u);
        expect(imagePullPolicy).toBe('IfNotPresent');
      }
    }
  });

  it('has every workload chosen by its own selector and by nobody else’s', () => {
    const resources = render({ shape });
    const all = workloads(resources);
    for (const { resource, name, labels } of all) {
      if (resource.kind === 'Pod') continue;
      const selector = resource.spec.selector.matchLabels as Record<string, string>;
      const chosen = all.filter((other) => selects(selector, other.labels));
      expect(chosen.map((one) => one.name)).toEqual([name]);
      expect(labels).toMatchObject(selector);
    }
  });
});

describe('the chart as it is', () => {
  it('has everything that `helm install parley ./helm` promises', () => {
    const kinds = (kind: string) =>
      ofKind(render(), kind)
        .map(({ metadata, spec }) => `${metadata.name} ${String(spec.replicas)}`)
        .sort();
    expect(kinds('Deployment')).toEqual([
      'parley-agent-a 1',
      'parley-agent-b 1',
      'parley-jaeger 1',
      'parley-otel-collector 1',
      'parley-registry 2',
    ]);
    expect(kinds('StatefulSet')).toEqual(['parley-proxy 1', 'parley-redis 1']);
  });

  it('takes images of one registry', () => {
    const images = workloads(render({ shape: 'production.yaml' })).flatMap(containersOf);
    for (const { image } of images) expect(image).toMatch(/^registry\.example\.com\/mirror\//u);
    for (const { spec } of workloads(render({ shape: 'production.yaml' }))) {
      expect(spec.imagePullSecrets).toEqual([{ name: 'pull' }]);
    }
  });
});
