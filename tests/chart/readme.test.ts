import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { tables, type TableRow } from '../unit/markdown-tables.js';
import { CHART } from './support/render.js';

/** Every value that is no further part, by its path. */
function leaves(value: unknown, path: readonly string[] = []): [path: string, value: unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0) {
    return [[path.join('.'), value]];
  }
  return Object.entries(value).flatMap(([name, inner]) => leaves(inner, [...path, name]));
}

const HEADINGS = [
  'Names, logs, stopping',
  'Every service',
  'registry',
  'agentA, agentB',
  'proxy',
  'Redis',
  'Telemetry',
  'Network and tests',
];
const values = leaves(parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')));
const rows: readonly TableRow[] = HEADINGS.flatMap((heading) => tables('helm/README.md', heading).flat());

const matching = ({ value = '' }: TableRow): [string, unknown][] => {
  const pattern = new RegExp(`^${value.replaceAll('.', '\\.').replaceAll('*', '\\w+')}$`, 'u');
  return values.filter(([path]) => pattern.test(path));
};

describe('the values in the README of the chart', () => {
  it('are all there, once', () => {
    const described = rows.flatMap((row) => matching(row).map(([path]) => path));
    expect([...described].sort()).toEqual(values.map(([path]) => path).sort());
  });

  it('have the defaults that stand there', () => {
    for (const row of rows) {
      const found = matching(row).map(([, value]) => (typeof value === 'string' ? value : JSON.stringify(value)));
      const standard = new Set(found).size === 1 ? found[0] : 'see values.yaml';
      expect([row['value'], row['default']]).toEqual([row['value'], standard]);
    }
  });
});
