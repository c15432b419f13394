import fc from 'fast-check';
import { satisfies } from 'semver';
import { Catalogue } from './catalogue.js';
import { toManifestJson } from './manifest.js';
import { parseRequirements, type CatalogueQuery, type QueryOrder } from './query.js';
import type { Manifest } from './types.js';

const NOW = 1_000_000;

interface Agent {
  readonly manifest: Manifest;
  readonly deadlineMs: number;
}

const capability = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const version = fc.constantFrom(undefined, '1.0.0', '1.2.3', '1.3.0-rc.1', '2.0.0', '2.0.0-beta.2', '0.4.1');
const labels = fc.dictionary(fc.constantFrom('region', 'tier'), fc.constantFrom('x', 'y'), { maxKeys: 2 });

const agent = (agentId: string): fc.Arbitrary<Agent> =>
  fc
    .record({
      details: fc.uniqueArray(fc.tuple(capability, version), {
        selector: ([name]) => name,
        minLength: 1,
        maxLength: 6,
      }),
      labels,
      // Half a lease before and after: dead ones are among them.
      deadlineMs: fc.integer({ min: NOW - 5, max: NOW + 20 }),
    })
    .map(({ details, labels: own, deadlineMs }) => ({
      manifest: {
        agentId,
        name: agentId,
        endpoint: 'http://x',
        capabilities: details.map(([name]) => name),
        capabilityDetails: Object.fromEntries(
          details.map(([name, v]) => [name, v === undefined ? {} : { version: v }]),
        ),
        labels: own,
      },
      deadlineMs,
    }));

/** Enough ids for several chunks of the index, with replacements and removals on the way. */
const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 0, max: 900 }).chain((n) => agent(`agent-${String(n)}`)) },
    { weight: 1, arbitrary: fc.record({ remove: fc.integer({ min: 0, max: 900 }).map((n) => `agent-${String(n)}`) }) },
  ),
  { maxLength: 1_500, size: 'max' },
);

const requirement = fc
  .tuple(capability, fc.constantFrom('', '', '', '@^1', '@^1.2', '@>=2.0.0-beta.1', '@1.3.0-rc.1', '@<1 || >=2'))
  .map(([name, range]) => name + range);

interface Question {
  readonly required: string[];
  readonly labels: Record<string, string>;
  readonly exclude: string[];
  readonly order: QueryOrder;
  readonly limit: number;
}

const question: fc.Arbitrary<Question> = fc.record({
  required: fc.array(requirement, { maxLength: 3 }),
  labels,
  exclude: fc.array(
    fc.integer({ min: 0, max: 900 }).map((n) => `agent-${String(n)}`),
    { maxLength: 5 },
  ),
  order: fc.constantFrom<QueryOrder>('id', 'freshest', 'random'),
  limit: fc.integer({ min: 1, max: 60 }),
});

function naiveMatch({ manifest, deadlineMs }: Agent, query: Question): boolean {
  return (
    deadlineMs > NOW &&
    !query.exclude.includes(manifest.agentId) &&
    Object.entries(query.labels).every(([name, value]) => manifest.labels?.[name] === value) &&
    query.required.every((text) => {
      const [name = '', range] = text.split('@');
      if (!manifest.capabilities.includes(name)) return false;
      const own = manifest.capabilityDetails?.[name]?.version;
      return range === undefined || (own !== undefined && satisfies(own, range, { includePrerelease: true }));
    })
  );
}

function pageThrough(catalogue: Catalogue, query: CatalogueQuery): string[] {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = catalogue.discover(cursor === undefined ? query : { ...query, cursor }, NOW);
    found.push(...page.agents.map(({ agentId }) => agentId));
    cursor = page.nextCursor;
  } while (cursor !== undefined && found.length < 10_000);
  return found;
}

test('finds, over all pages, exactly those that a plain filter finds, each once and in order', () => {
  fc.assert(
    fc.property(steps, question, (history, query) => {
      const catalogue = new Catalogue();
      const naive = new Map<string, Agent>();
      history.forEach((step, revision) => {
        if ('remove' in step) {
          catalogue.remove(step.remove);
          naive.delete(step.remove);
          return;
        }
        const { manifest, deadlineMs } = step;
        const { agentId } = manifest;
        naive.set(agentId, step);
        const manifestJson = toManifestJson(manifest);
        catalogue.upsert({ agentId, manifestJson, ttlMs: 20, deadlineMs, revision, registeredAtMs: NOW });
      });

      const bound = { ...query, required: parseRequirements(query.required) };
      const wanted = [...naive.values()].filter((each) => naiveMatch(each, query));
      const byId = wanted.map(({ manifest }) => manifest.agentId).sort();
      const found = pageThrough(catalogue, bound);

      if (query.order === 'id') expect(found).toEqual(byId);
      else expect([...found].sort()).toEqual(byId);
      if (query.order === 'freshest') {
        const deadlines = found.map((agentId) => naive.get(agentId)?.deadlineMs ?? 0);
        expect(deadlines).toEqual([...deadlines].sort((a, b) => b - a));
      }
      expect(catalogue.discover({ ...bound, countTotal: true }, NOW).total).toBe(wanted.length);
      expect(catalogue.livingCount(NOW)).toBe([...naive.values()].filter(({ deadlineMs }) => deadlineMs > NOW).length);
    }),
    { numRuns: 150 },
  );
});
