import { containersOf, ofKind, render, SHAPES, workloads } from './support/render.js';

const SECRETS = /TOKEN|PASSWORD|API_KEY|AUTH$/u;
/** What `ci/` gives as secrets. */
const GIVEN = /token-of|owner-token-of|password-of-this-test|key-of-nobody/u;

const pods = SHAPES.flatMap((shape) =>
  workloads(render({ shape })).map((workload) => [`${workload.name} of ${shape || 'values.yaml'}`, workload] as const),
);
const containers = pods.flatMap(([what, workload]) =>
  containersOf(workload).map((container) => [`${container.name} in ${what}`, container, workload] as const),
);

describe('every pod', () => {
  it.each(pods)('%s may do what a restricted namespace allows, and has no token', (_what, { spec }) => {
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(spec.securityContext?.['runAsUser']).toBeGreaterThan(0);
    // A claim belongs to root until it is given to this group.
    expect(spec.securityContext?.['fsGroup']).toBe(spec.securityContext?.['runAsUser']);
    expect(spec.automountServiceAccountToken).toBe(false);
    expect(spec.enableServiceLinks).toBe(false);
    expect(spec.hostNetwork ?? spec.hostPID ?? false).toBe(false);
    for (const volume of spec.volumes ?? []) {
      const { name: _, ...source } = volume;
      expect(['emptyDir', 'configMap']).toContain(Object.keys(source)[0]);
    }
  });

  it.each(pods)('%s bounds what it writes', (_what, { spec }) => {
    for (const { emptyDir } of spec.volumes ?? []) {
      if (emptyDir !== undefined) expect(emptyDir.sizeLimit).toMatch(/^\d+[MG]i$/u);
    }
  });
});

describe('every container', () => {
  it.each(containers)('%s gains no rights and writes to mounts only', (_what, { securityContext }) => {
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it.each(containers)('%s says what it needs, and how much memory it may take', (_what, { resources }) => {
    expect(Object.keys(resources?.requests ?? {}).sort()).toEqual(['cpu', 'memory']);
    expect(resources?.limits).toHaveProperty('memory');
  });

  it.each(containers)(
    '%s mounts what the pod has, and can write to /tmp',
    (_what, { volumeMounts }, { resource, spec }) => {
      const claims = (resource.spec.volumeClaimTemplates ?? []) as { metadata: { name: string } }[];
      const there = [...(spec.volumes ?? []).map(({ name }) => name), ...claims.map(({ metadata }) => metadata.name)];
      for (const { name } of volumeMounts ?? []) expect(there).toContain(name);
      expect(volumeMounts?.map(({ mountPath }) => mountPath)).toContain('/tmp');
    },
  );

  it.each(containers)('%s has secrets from Secrets alone, and each variable once', (_what, { env = [] }) => {
    const names = env.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, value, valueFrom } of env) {
      if (!SECRETS.test(name)) continue;
      expect(value).toBeUndefined();
      expect(valueFrom?.secretKeyRef?.name).toBeTruthy();
    }
  });
});

describe('secrets', () => {
  it.each(SHAPES)('of %p stand in Secrets and nowhere else', (shape) => {
    for (const resource of render({ shape })) {
      if (resource.kind !== 'Secret') expect(JSON.stringify(resource)).not.toMatch(GIVEN);
    }
  });

  it('are taken from Secrets that exist where the values name them, and none is made then', () => {
    expect(ofKind(render({ shape: 'existing-secrets.yaml' }), 'Secret')).toEqual([]);
    const named = workloads(render({ shape: 'existing-secrets.yaml' }))
      .flatMap(containersOf)
      .flatMap(({ env = [] }) => env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? []));
    expect([...new Set(named)].sort()).toEqual(
      ['agent-a-tokens', 'agent-b-tokens', 'model-key', 'proxy-tokens', 'redis-password', 'registry-tokens'].sort(),
    );
  });

  it.each(SHAPES)('of %p that a container must have are there, or named by the values', (shape) => {
    const resources = render({ shape });
    const made = new Map(
      ofKind(resources, 'Secret').map(({ metadata, stringData = {} }) => [metadata.name, stringData]),
    );
    for (const container of workloads(resources).flatMap(containersOf)) {
      for (const { valueFrom } of container.env ?? []) {
        const reference = valueFrom?.secretKeyRef;
        if (!reference?.name.startsWith('parley-')) continue;
        expect([...made.keys()]).toContain(reference.name);
        if (reference.optional !== true) expect(made.get(reference.name)).toHaveProperty(reference.key);
      }
    }
  });

  it('that the chart makes are long, and different ones', () => {
    const made = ofKind(render(), 'Secret').flatMap(({ stringData = {} }) => Object.values(stringData));
    expect(made).toHaveLength(4);
    expect(new Set(made).size).toBe(made.length);
    for (const one of made) expect(one).toMatch(/^[A-Za-z0-9]{43}$/u);
  });
});

describe('service accounts', () => {
  it('are one for each service, without a token', () => {
    const resources = render();
    const accounts = ofKind(resources, 'ServiceAccount');
    for (const account of accounts) expect(account.automountServiceAccountToken).toBe(false);
    const used = workloads(resources)
      .filter(({ resource }) => resource.kind !== 'Pod')
      .map(({ spec }) => spec.serviceAccountName);
    expect([...used].sort()).toEqual(accounts.map(({ metadata }) => metadata.name).sort());
  });

  it('may be those that exist', () => {
    const serviceAccount = { create: false, name: 'there', annotations: {} };
    const resources = render({ values: { registry: { serviceAccount } } });
    const registry = workloads(resources).find(({ name }) => name === 'parley-registry');
    expect(registry?.spec.serviceAccountName).toBe('there');
    expect(ofKind(resources, 'ServiceAccount').map(({ metadata }) => metadata.name)).not.toContain('parley-registry');
  });
});
