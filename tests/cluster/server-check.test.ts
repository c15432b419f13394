import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CHART, TestNamespace } from './support/cluster.js';

const SHAPES = ['values.yaml', ...readdirSync(join(CHART, 'ci')).map((name) => `ci/${name}`)];

describe('what is rendered', () => {
  const namespace = new TestNamespace();

  beforeAll(async () => {
    await namespace.create();
  }, 60_000);

  afterAll(async () => {
    await namespace.remove();
  }, 120_000);

  it('is taken by the cluster, every field by its right name, also in a restricted namespace', async () => {
    const rendered = await Promise.all(
      SHAPES.map((shape, index) =>
        namespace.helm('template', `checked-${index}`, CHART, '--values', join(CHART, shape)),
      ),
    );
    const all = rendered.join('\n---\n');
    const { output, warnings } = await namespace.dryRun(all);
    expect(output.match(/\(server dry run\)$/gmu)).toHaveLength(all.match(/^kind: /gmu)?.length ?? 0);
    // What a pod may not do there is only warned of where a controller makes it.
    expect(warnings).toBe('');
  }, 120_000);

  it('would not be taken with a field that is misspelt', async () => {
    const rendered = await namespace.helm('template', 'checked', CHART);
    await expect(namespace.dryRun(rendered.replace('readinessProbe:', 'readynessProbe:'))).rejects.toThrow(
      /unknown field "spec\.template\.spec\.containers\[0\]\.readynessProbe"/u,
    );
  }, 60_000);
});
