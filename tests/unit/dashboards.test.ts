import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { PLACES, scrape } from '../support/served-metrics.js';
import { table } from './markdown-tables.js';

const root = join(import.meta.dirname, '..', '..');

/** What Grafana puts in before it asks. */
const VARIABLES: Readonly<Record<string, string>> = { $__rate_interval: '5m', $service: '.*' };

/** Made by Prometheus for each target of a scrape. */
const BY_PROMETHEUS = new Set(['up']);
const LABELS_BY_PROMETHEUS = ['instance', 'job'];

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

const dashboard = JSON.parse(readFileSync(join(root, 'deploy', 'grafana', 'parley.json'), 'utf8')) as {
  readonly panels: readonly Panel[];
};
const alerts = parse(readFileSync(join(root, 'deploy', 'prometheus', 'alerts.yaml'), 'utf8')) as {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
};
const rules = alerts.groups.flatMap((group) => group.rules);

const questions: [where: string, expr: string, text: string][] = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }): [string, string, string] => [`panel ${title}`, expr, legendFormat]),
  ),
  ...rules.map(({ alert, expr, annotations }): [string, string, string] => [
    `alert ${alert}`,
    expr,
    annotations.summary,
  ]),
];

interface Asked {
  readonly metrics: { readonly name: string; readonly labels: readonly string[] }[];
  /** Labels by which something is grouped. */
  readonly groupedBy: readonly string[];
  readonly isBroken: boolean;
}

function read(expr: string): Asked {
  const text = Object.entries(VARIABLES).reduce((filled, [name, value]) => filled.replaceAll(name, value), expr);
  const asked = { metrics: [] as { name: string; labels: string[] }[], groupedBy: [] as string[], isBroken: false };
  let inGrouping = false;
  parser.parse(text).iterate({
    enter: ({ name, type, from, to }) => {
      const word = text.slice(from, to);
      if (type.isError) asked.isBroken = true;
      if (name === 'GroupingLabels') inGrouping = true;
      if (name === 'VectorSelector')
        asked.metrics.push({ name: /^[a-zA-Z_:][\w:]*/u.exec(word)?.[0] ?? '', labels: [] });
      if (name !== 'LabelName') return;
      if (inGrouping) asked.groupedBy.push(word);
      else asked.metrics.at(-1)?.labels.push(word);
    },
    leave: ({ name }) => {
      if (name === 'GroupingLabels') inGrouping = false;
    },
  });
  return asked;
}

/** Each metric by the name of its samples, with the labels that the table of the documentation gives it. */
let served: ReadonlyMap<string, ReadonlySet<string>>;

beforeAll(async () => {
  const labels = documentedLabels();
  const names = new Map<string, Set<string>>();
  for (const place of PLACES) {
    const text = await scrape(place);
    for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\S+) (\w+)$/gmu)) {
      const samples = type === 'histogram' ? ['_bucket', '_count', '_sum'].map((end) => name + end) : [name];
      for (const sample of samples) {
        const known = names.get(sample) ?? new Set(['service', ...LABELS_BY_PROMETHEUS]);
        for (const label of labels.get(name) ?? []) known.add(label);
        if (sample.endsWith('_bucket')) known.add('le');
        names.set(sample, known);
      }
    }
  }
  served = names;
});

function documentedLabels(): Map<string, string[]> {
  const labels = new Map<string, string[]>();
  for (const { name = '', labels: cell = '' } of table('docs/operations.md', 'Metrics')) {
    labels.set(name, [...(labels.get(name) ?? []), ...cell.split(', ').filter(Boolean)]);
  }
  return labels;
}

describe('dashboard and alerts', () => {
  it.each(questions)('ask by PromQL for what the services serve: %s', (_where, expr) => {
    const { metrics, groupedBy, isBroken } = read(expr);
    expect(isBroken).toBe(false);
    expect(metrics.length).toBeGreaterThan(0);
    const unknown = metrics.filter(({ name }) => !served.has(name) && !BY_PROMETHEUS.has(name));
    expect(unknown).toEqual([]);
    for (const { name, labels } of metrics) {
      const known = served.get(name) ?? new Set(LABELS_BY_PROMETHEUS);
      expect([name, ...labels.filter((label) => !known.has(label))]).toEqual([name]);
    }
    const groupable = new Set(metrics.flatMap(({ name }) => [...(served.get(name) ?? [])]));
    expect(groupedBy.filter((label) => !groupable.has(label))).toEqual([]);
  });

  it('notice a metric that is not served, a label that it has not, and what is no PromQL', () => {
    expect(served.has('parley_no_such_thing')).toBe(false);
    expect(read('sum by (colour) (parley_watchers{shape="round"})')).toEqual({
      metrics: [{ name: 'parley_watchers', labels: ['shape'] }],
      groupedBy: ['colour'],
      isBroken: false,
    });
    expect(served.get('parley_watchers')?.has('shape')).toBe(false);
    expect(read('sum(rate(x[5m])').isBroken).toBe(true);
  });

  it.each(questions)('say only labels that are left over: %s', (_where, expr, text) => {
    const { groupedBy } = read(expr);
    const said = [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/gu)].map(([, label = '']) => label);
    const hasLabels = groupedBy.length === 0 && !/\b(?:sum|max|min)\b/u.test(expr);
    expect(said.filter((label) => !groupedBy.includes(label) && !hasLabels)).toEqual([]);
  });

  it('show every metric of our own that the documentation lists', () => {
    const asked = new Set(questions.flatMap(([, expr]) => read(expr).metrics.map(({ name }) => name)));
    const unseen = [...documentedLabels().keys()].filter(
      (name) => ![name, `${name}_bucket`, `${name}_count`].some((sample) => asked.has(sample)),
    );
    expect(unseen).toEqual([]);
  });
});

describe('the dashboard', () => {
  it('has panels with ids of their own, none above another and none beyond the edge', () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = new Set<string>();
    for (const { gridPos: at } of panels) {
      expect(at.x + at.w).toBeLessThanOrEqual(24);
      for (let x = at.x; x < at.x + at.w; x += 1) {
        for (let y = at.y; y < at.y + at.h; y += 1) {
          const cell = `${String(x)}:${String(y)}`;
          expect(cells.has(cell)).toBe(false);
          cells.add(cell);
        }
      }
    }
  });
});

describe('the alerts', () => {
  it('have names of their own, a severity, and are explained in operations.md', () => {
    const text = readFileSync(join(root, 'docs', 'operations.md'), 'utf8');
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    expect(rules.filter(({ alert }) => !text.includes(`\`${alert}\``)).map(({ alert }) => alert)).toEqual([]);
    expect(rules.filter(({ labels }) => !['critical', 'warning'].includes(labels.severity))).toEqual([]);
  });
});
