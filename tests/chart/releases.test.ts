import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHART, render, selects, SHAPES, workloads, type RenderOptions } from './support/render.js';

/** The same chart under another version. */
function chartOfVersion(version: string): string {
  const chart = join(mkdtempSync(join(tmpdir(), 'parley-version-')), 'parley');
  cpSync(CHART, chart, { recursive: true });
  const file = join(chart, 'Chart.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^(version|appVersion): .*$/gmu, `$1: ${version}`));
  return chart;
}

/** What Kubernetes lets nobody change. */
function immutable(options: RenderOptions): unknown[] {
  return render(options).flatMap(({ kind, metadata, spec }): object[] => {
    switch (kind) {
      case 'Deployment':
        return [{ kind, name: metadata.name, selector: spec.selector }];
      case 'StatefulSet': {
        const { selector, serviceName, podManagementPolicy, volumeClaimTemplates } = spec;
        return [{ kind, name: metadata.name, selector, serviceName, podManagementPolicy, volumeClaimTemplates }];
      }
      case 'Service':
        return [{ kind, name: metadata.name, clusterIP: spec.clusterIP ?? 'chosen' }];
      default:
        return [];
    }
  });
}

describe('another version of the chart', () => {
  const [older, newer] = [chartOfVersion('0.1.0'), chartOfVersion('0.2.0')];

  afterAll(() => {
    for (const chart of [older, newer]) rmSync(join(chart, '..'), { recursive: true });
  });

  it.each(SHAPES)('changes with %p nothing that cannot change', (shape) => {
    expect(immutable({ shape, chart: newer })).toEqual(immutable({ shape, chart: older }));
  });

  it('is told by labels that no selector has, and by the images', () => {
    const text = JSON.stringify(render({ chart: newer }));
    expect(text).toContain('"helm.sh/chart":"parley-0.2.0"');
    expect(text).toContain('"app.kubernetes.io/version":"0.2.0"');
    expect(text).toContain('parley/registry:0.2.0');
    const selectors = JSON.stringify(render({ chart: newer }).map(({ spec }) => spec?.selector));
    expect(selectors).not.toMatch(/version|helm\.sh|0\.2\.0/u);
  });
});

const namesOf = (release: string, values: object = {}): string[] =>
  render({ release, values }).map(({ kind, metadata }) => `${kind} ${metadata.name}`);

describe('two releases in one namespace', () => {
  // Each of these is a name that the other may have as a beginning.
  it.each([
    ['parley', 'parley-two'],
    ['x', 'x-registry'],
    ['x', 'x-agent'],
    ['x', 'x-otel'],
    ['x-proxy', 'x'],
    ['a', 'a-parley'],
    [`${'r'.repeat(52)}a`, `${'r'.repeat(52)}b`],
    [`${'r'.repeat(37)}-${'r'.repeat(14)}a`, `${'r'.repeat(37)}-${'r'.repeat(14)}`],
  ])('%s and %s share no name and no pod', (one, other) => {
    expect(namesOf(one).filter((name) => namesOf(other).includes(name))).toEqual([]);
    for (const { resource } of workloads(render({ release: one }))) {
      const selector: unknown = resource.spec.selector?.matchLabels;
      if (selector === undefined) continue;
      for (const { labels } of workloads(render({ release: other }))) {
        expect(selects(selector, labels)).toBe(false);
      }
    }
  });

  it('register their agents and proxies under names that are their own', () => {
    expect(namesOf('x').some((name) => name.includes('parley'))).toBe(false);
  });
});

describe('a long name', () => {
  // The longest that helm takes.
  const release = `${'long-'.repeat(10)}abc`;

  it.each([
    ['of the release', release, {}],
    ['given as override', 'r', { fullnameOverride: release }],
  ])('%s leaves room for what is added to it', (_what, name, values) => {
    const resources = render({ release: name, values });
    for (const { kind, metadata } of resources) {
      expect(metadata.name.length).toBeLessThanOrEqual(63);
      expect(metadata.name).toMatch(/^[a-z][a-z0-9-]*[a-z0-9]$/u);
      // The controller labels each pod with the name and a digest of ten.
      if (kind === 'StatefulSet') expect(metadata.name.length).toBeLessThanOrEqual(63 - 11);
      // A host name is cut where the end of a pod's name would tell replicas apart.
      const isOurs = /-(?:registry|agent-[ab])$/u.test(metadata.name);
      if (kind === 'Deployment' && isOurs) expect(metadata.name.length).toBeLessThanOrEqual(63 - 17);
      for (const value of Object.values(metadata.labels ?? {})) expect(value.length).toBeLessThanOrEqual(63);
    }
  });

  it('given as override names the resources, and not what selects', () => {
    const resources = render({ release: 'r', values: { fullnameOverride: 'mine' } });
    for (const { metadata } of resources) {
      expect(metadata.name).toMatch(/^mine-/u);
      expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/instance': 'r' });
    }
  });
});
