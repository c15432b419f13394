import { find, ofKind, render, selects, workloads } from './support/render.js';
import type { Resource } from './support/resources.js';

interface Rule {
  readonly to?: readonly object[];
  readonly from?: readonly { readonly podSelector?: { readonly matchLabels: Readonly<Record<string, string>> } }[];
  readonly ports?: readonly { readonly protocol: string; readonly port: number }[];
}

const DNS = [
  { protocol: 'UDP', port: 53 },
  { protocol: 'TCP', port: 53 },
];
const SHAPES_WITH = ['production.yaml', 'external-redis.yaml', 'sentinel.yaml', 'cluster.yaml'];

const policies = (shape = 'production.yaml'): readonly Resource[] => ofKind(render({ shape }), 'NetworkPolicy');
const policyOf = (component: string, shape?: string): Resource =>
  find(policies(shape), 'NetworkPolicy', `parley-${component}`);
const egress = (component: string, shape?: string): readonly Rule[] => policyOf(component, shape).spec.egress as Rule[];
const ingress = (component: string): readonly Rule[] => policyOf(component).spec.ingress as Rule[];
/** Ports of rules that lead to any address. */
const anywhere = (component: string, shape: string): number[] =>
  egress(component, shape)
    .filter(({ to }) => to === undefined)
    .flatMap(({ ports = [] }) => ports.map(({ port }) => port))
    .filter((port) => port !== 53);

describe('network policies', () => {
  it('are off in the values', () => {
    expect(ofKind(render(), 'NetworkPolicy')).toEqual([]);
  });

  it.each(SHAPES_WITH)('cover with %p every pod that stays, in both directions', (shape) => {
    const stays = workloads(render({ shape })).filter(({ resource }) => resource.kind !== 'Pod');
    for (const { labels, name } of stays) {
      const covering = policies(shape).filter(({ spec }) => selects(spec.podSelector.matchLabels, labels));
      expect(covering.map(({ metadata }) => metadata.name)).toEqual([name]);
      expect(covering[0]?.spec.policyTypes).toEqual(['Ingress', 'Egress']);
    }
  });

  it.each(SHAPES_WITH)('let with %p everybody resolve names who goes out, over UDP and TCP', (shape) => {
    for (const { spec, metadata } of policies(shape)) {
      const rules = spec.egress as Rule[];
      if (rules.length === 0) expect(metadata.name).toMatch(/-(?:redis|jaeger)$/u);
      else expect(rules).toContainEqual({ ports: DNS });
    }
  });

  it('let pods of the release and those of extraFrom call its services', () => {
    const own = { 'app.kubernetes.io/name': 'parley', 'app.kubernetes.io/instance': 'parley' };
    for (const [component, ports] of [
      ['registry', [8000, 9000]],
      ['agent-a', [8001, 9001]],
      ['agent-b', [8002, 9002]],
      ['proxy', [8003, 9003]],
      ['jaeger', [16686, 4317]],
    ] as const) {
      expect(ingress(component)).toEqual([
        {
          from: [{ podSelector: { matchLabels: own } }, { namespaceSelector: { matchLabels: { team: 'agents' } } }],
          ports: ports.map((port) => ({ protocol: 'TCP', port })),
        },
      ]);
    }
  });

  it('let only registry and agents reach Redis, which goes nowhere', () => {
    const [rule] = ingress('redis');
    expect(rule?.ports).toEqual([{ protocol: 'TCP', port: 6379 }]);
    const callers = rule?.from?.map(({ podSelector }) => podSelector?.matchLabels['app.kubernetes.io/component']);
    expect(callers).toEqual(['registry', 'agent-a', 'agent-b']);
    expect(egress('redis')).toEqual([]);
  });

  it('open the ports of what the values name outside', () => {
    expect(anywhere('registry', 'external-redis.yaml').sort()).toEqual([4318, 6380]);
    expect(anywhere('proxy', 'external-redis.yaml')).toEqual([4318]);
    // Sentinels tell where the servers are: at their usual port.
    expect(anywhere('registry', 'sentinel.yaml').sort()).toEqual([26379, 6379]);
    expect(anywhere('registry', 'cluster.yaml')).toEqual([6379]);
    expect(anywhere('otel-collector', 'cluster.yaml')).toEqual([4317]);
    expect(anywhere('agent-a', 'production.yaml')).toEqual([8443]);
    expect(anywhere('proxy', 'production.yaml')).toEqual([]);
  });

  it('add what extraEgress says to services of ours', () => {
    const extra = { to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] };
    for (const component of ['registry', 'agent-a', 'agent-b', 'proxy'])
      expect(egress(component)).toContainEqual(extra);
    expect(egress('otel-collector')).not.toContainEqual(extra);
  });
});
