import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentEnv, createAgentService, readAgentConfig } from '@parley/agent';
import { silentLogger, type RunnableService } from '@parley/service-kit';
import { skillsByName, workEnv } from '@parley/skills';
import type { z } from 'zod';
import { DEFAULTS as AGENT_A } from '../../services/agent-a/src/app.js';
import { DEFAULTS as AGENT_B } from '../../services/agent-b/src/app.js';
import { proxyEnv } from '../../services/proxy/src/config.js';
import { createRegistryService } from '../../services/registry/src/app.js';
import { readRegistryConfig, registryEnv } from '../../services/registry/src/config.js';
import { PLACES, proxyOnFreePorts, scrape } from '../support/served-metrics.js';
import { table, tables, type TableRow } from './markdown-tables.js';

const OPERATIONS = 'docs/operations.md';

type Shape = Readonly<Record<string, z.ZodType>>;

/** What a schema says of each variable, in the columns of the document. */
function described(shape: Shape): TableRow[] {
  return Object.entries(shape).map(([variable, schema]) => {
    const standard = schema.safeParse(undefined).data as string | number | boolean | undefined;
    return { variable, default: standard === undefined ? '' : String(standard), meaning: plain(schema.description) };
  });
}

/** Without the marks of code, as cells are read. */
function plain(text = ''): string {
  return text.replaceAll('`', '');
}

/** The same columns as printed; where a cell has two values, the one of this agent. */
function printed(rows: readonly TableRow[], which = 0): TableRow[] {
  return rows.map(({ variable = '', default: standard = '', meaning = '' }) => ({
    variable,
    default: standard.split(' / ')[which] ?? standard,
    meaning,
  }));
}

/** What lies at and just beyond the bounds that are printed. */
function boundCases(rows: readonly TableRow[]): [variable: string, value: string, allowed: boolean][] {
  return rows.flatMap(({ variable = '', allowed = '' }): [string, string, boolean][] => {
    const [, low, high] = /^(\d+)-(\d+)$/u.exec(allowed) ?? [];
    if (low !== undefined && high !== undefined) {
      return [
        [variable, low, true],
        [variable, high, true],
        [variable, String(Number(low) - 1), false],
        [variable, String(Number(high) + 1), false],
      ];
    }
    if (allowed === 'secret') {
      return [
        [variable, 'x'.repeat(22), true],
        [variable, 'x'.repeat(256), true],
        [variable, 'x'.repeat(21), false],
        [variable, 'x'.repeat(257), false],
        [variable, `${'x'.repeat(22)} `, false],
      ];
    }
    const words = /^(?:[a-z0-9]+, )+[a-z0-9]+$/u.test(allowed) ? allowed.split(', ') : [];
    return [
      ...words.map((word): [string, string, boolean] => [variable, word, true]),
      ...(words.length === 0 ? [] : [[variable, 'somethingelse', false] satisfies [string, string, boolean]]),
    ];
  });
}

describe('the environment in operations.md', () => {
  const registryRows = table(OPERATIONS, 'registry');
  const agentRows = table(OPERATIONS, 'agent-a, agent-b');
  const workRows = table(OPERATIONS, 'agent-a, agent-b: how they work');
  const proxyRows = table(OPERATIONS, 'proxy');

  it('is that of the registry', () => {
    expect(printed(registryRows)).toEqual(described(registryEnv.shape));
  });

  it.each([
    ['agent-a', AGENT_A, 0],
    ['agent-b', AGENT_B, 1],
  ])('is that of %s', (_name, defaults, which) => {
    expect(printed(agentRows, which)).toEqual(described(agentEnv(defaults).shape));
  });

  it('is that of the work of an agent', () => {
    expect(printed(workRows)).toEqual(described(workEnv.shape));
  });

  it('is that of the proxy', () => {
    expect(printed(proxyRows)).toEqual(described(proxyEnv.shape));
  });

  it.each(boundCases(proxyRows))('says of the proxy whether %s may be %s', (variable, value, allowed) => {
    const shape: Shape = proxyEnv.shape;
    expect(shape[variable]?.safeParse(value).success).toBe(allowed);
  });

  it.each(boundCases(workRows))('says of the work of an agent whether %s may be %s', (variable, value, allowed) => {
    const shape: Shape = workEnv.shape;
    expect(shape[variable]?.safeParse(value).success).toBe(allowed);
  });

  it.each(boundCases(registryRows))('says of the registry whether %s may be %s', (variable, value, allowed) => {
    const shape: Shape = registryEnv.shape;
    expect(shape[variable]?.safeParse(value).success).toBe(allowed);
  });

  it.each(boundCases(agentRows))('says of an agent whether %s may be %s', (variable, value, allowed) => {
    const shape: Shape = agentEnv(AGENT_A).shape;
    expect(shape[variable]?.safeParse(value).success).toBe(allowed);
  });
});

interface Metric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
}

/** Our own metrics as a service serves them. */
const ownMetrics = (text: string): Metric[] =>
  [...text.matchAll(/^# HELP (parley_\S+) (.*)\n# TYPE \S+ (\w+)$/gmu)].map(([, name = '', help = '', type = '']) => ({
    name,
    type,
    help,
  }));

const printedMetrics = (place: string): Metric[] =>
  table(OPERATIONS, 'Metrics')
    .filter(({ at = '' }) => at === 'all' || at.split(', ').includes(place))
    .map(({ name = '', type = '', help = '' }) => ({ name, type, help }));

const byName = (a: Metric, b: Metric): number => (a.name < b.name ? -1 : 1);

describe('the metrics in operations.md', () => {
  it.each(PLACES)('are those that a service of this kind serves: %s', async (place) => {
    expect(ownMetrics(await scrape(place)).sort(byName)).toEqual(printedMetrics(place).sort(byName));
  });
});

describe('the phases of stopping in operations.md', () => {
  const [, registryPhases = [], agentPhases = [], proxyPhases = []] = tables(OPERATIONS, 'Stopping');

  const phasesOf = (service: RunnableService): TableRow[] =>
    service.shutdownPhases().map(({ name, timeoutMs }) => ({ phase: name, 'at most (ms)': String(timeoutMs) }));

  /** The last one, telemetry, belongs to whatever runs the service. */
  const printedPhases = (rows: readonly TableRow[]): TableRow[] =>
    rows.slice(0, -1).map(({ phase = '', 'at most (ms)': ms = '' }) => ({ phase, 'at most (ms)': ms }));

  it('are those of the registry', () => {
    const service = createRegistryService({ config: readRegistryConfig({}), logger: silentLogger });
    expect(phasesOf(service)).toEqual(printedPhases(registryPhases));
  });

  it('are those of the proxy, which has some of them once it has started', async () => {
    const workDir = mkdtempSync(join(tmpdir(), 'proxy-docs-'));
    const proxy = proxyOnFreePorts(workDir);
    await proxy.start();
    try {
      expect(phasesOf(proxy)).toEqual(printedPhases(proxyPhases));
    } finally {
      for (const phase of proxy.shutdownPhases()) await phase.run();
      rmSync(workDir, { recursive: true });
    }
  });

  it('are those of an agent', () => {
    const config = readAgentConfig(AGENT_A, {});
    const service = createAgentService({ config, logger: silentLogger, skills: skillsByName(['translate']) });
    expect(phasesOf(service)).toEqual(printedPhases(agentPhases));
  });

  it.each([
    ['the registry', registryPhases],
    ['an agent', agentPhases],
    ['the proxy', proxyPhases],
  ])('of %s fit into the grace period of the compose file', (_name, rows) => {
    const sum = rows.reduce((total, { 'at most (ms)': ms = '' }) => total + Number(ms), 0);
    expect(rows.length).toBeGreaterThan(1);
    expect(sum).toBeLessThan(30_000);
  });
});
