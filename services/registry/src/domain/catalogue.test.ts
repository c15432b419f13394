import { Catalogue } from './catalogue.js';
import { toManifestJson } from './manifest.js';
import { parseRequirements, QueryRefusal, type CatalogueQuery } from './query.js';
import type { AgentRecord, Manifest } from './types.js';

const NOW = Date.parse('2026-05-04T10:00:00.000Z');

function record(agentId: string, manifest: Partial<Manifest> = {}, lease: Partial<AgentRecord> = {}): AgentRecord {
  const manifestJson = toManifestJson({
    agentId,
    name: agentId,
    endpoint: `http://${agentId}:8001`,
    capabilities: ['translate'],
    ...manifest,
  });
  return { agentId, manifestJson, ttlMs: 30_000, deadlineMs: NOW + 30_000, revision: 1, registeredAtMs: NOW, ...lease };
}

function catalogueOf(...records: AgentRecord[]): Catalogue {
  const catalogue = new Catalogue({ random: () => 0.25 });
  for (const each of records) catalogue.upsert(each);
  return catalogue;
}

function ids(catalogue: Catalogue, query: CatalogueQuery = {}, nowMs = NOW): string[] {
  return catalogue.discover(query, nowMs).agents.map(({ agentId }) => agentId);
}

function refusalOf(run: () => unknown): QueryRefusal {
  try {
    run();
  } catch (error) {
    if (error instanceof QueryRefusal) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('what matches', () => {
  test('agents that have all of the capabilities', () => {
    const catalogue = catalogueOf(
      record('a', { capabilities: ['translate', 'summarize'] }),
      record('b', { capabilities: ['translate', 'code_review'] }),
      record('c', { capabilities: ['code_review'] }),
    );
    expect(ids(catalogue, { required: parseRequirements(['translate', 'code_review']) })).toEqual(['b']);
    expect(ids(catalogue, { required: parseRequirements(['code_review']) })).toEqual(['b', 'c']);
    expect(ids(catalogue, { required: parseRequirements(['translate', 'translate']) })).toEqual(['a', 'b']);
    expect(ids(catalogue, { required: parseRequirements(['translate', 'nobody_has_this']) })).toEqual([]);
    expect(ids(catalogue)).toEqual(['a', 'b', 'c']);
  });

  test('versions, where a capability without one promises none', () => {
    const versioned = (agentId: string, version?: string): AgentRecord =>
      record(agentId, { capabilityDetails: version === undefined ? {} : { translate: { version } } });
    const catalogue = catalogueOf(
      versioned('a', '1.1.0'),
      versioned('b', '1.4.2'),
      versioned('c', '2.0.0'),
      versioned('d'),
    );
    expect(ids(catalogue, { required: parseRequirements(['translate@^1.2']) })).toEqual(['b']);
    expect(ids(catalogue, { required: parseRequirements(['translate@*']) })).toEqual(['a', 'b', 'c']);
    expect(ids(catalogue, { required: parseRequirements(['translate@>=1.1', 'translate@<2']) })).toEqual(['a', 'b']);
  });

  test('a detail of another capability, or one named like a property of every object, is no version', () => {
    const catalogue = catalogueOf(
      record('a', {
        capabilities: ['constructor', 'translate'],
        capabilityDetails: { translate: { version: '1.0.0' } },
      }),
    );
    expect(ids(catalogue, { required: parseRequirements(['constructor@*']) })).toEqual([]);
    expect(ids(catalogue, { required: parseRequirements(['constructor']) })).toEqual(['a']);
  });

  test('labels that are equal, ids that are not excluded', () => {
    const catalogue = catalogueOf(
      record('a', { labels: { region: 'eu', tier: 'gold' } }),
      record('b', { labels: { region: 'us' } }),
      record('c'),
    );
    expect(ids(catalogue, { labels: { region: 'eu' } })).toEqual(['a']);
    expect(ids(catalogue, { labels: { region: 'eu', tier: 'silver' } })).toEqual([]);
    expect(ids(catalogue, { labels: { gold: 'tier' } })).toEqual([]);
    expect(ids(catalogue, { exclude: ['a', 'zz'] })).toEqual(['b', 'c']);
  });

  test('nobody whose deadline has passed, although the entry is still there', () => {
    const catalogue = catalogueOf(record('a', {}, { deadlineMs: NOW }), record('b', {}, { deadlineMs: NOW + 1 }));
    expect(ids(catalogue)).toEqual(['b']);
    expect(catalogue.get('a', NOW)).toBeUndefined();
    expect(catalogue.get('b', NOW)?.agentId).toBe('b');
    expect(catalogue.livingCount(NOW)).toBe(1);
    expect(catalogue.discover({ countTotal: true }, NOW).total).toBe(1);
    expect(catalogue.discover({ countTotal: true, required: parseRequirements(['translate']) }, NOW).total).toBe(1);
  });
});

describe('registration', () => {
  test('the last one wins in full', () => {
    const catalogue = catalogueOf(record('a', { capabilities: ['translate', 'old'], labels: { region: 'eu' } }));
    catalogue.upsert(record('a', { capabilities: ['translate', 'new'] }, { revision: 2 }));
    expect(ids(catalogue, { required: parseRequirements(['old']) })).toEqual([]);
    expect(ids(catalogue, { required: parseRequirements(['new']) })).toEqual(['a']);
    expect(ids(catalogue, { required: parseRequirements(['translate']) })).toEqual(['a']);
    expect(ids(catalogue, { labels: { region: 'eu' } })).toEqual([]);
    expect(catalogue.size).toBe(1);
  });

  test('one that cannot be read leaves the old one as it was', () => {
    const catalogue = catalogueOf(record('a'));
    expect(() => catalogue.upsert({ ...record('a'), manifestJson: '{' })).toThrow(SyntaxError);
    expect(ids(catalogue, { required: parseRequirements(['translate']) })).toEqual(['a']);
  });

  test('a removed agent leaves no ghost under any capability', () => {
    const catalogue = catalogueOf(record('a', { capabilities: ['translate', 'only_a'] }), record('b'));
    expect(catalogue.remove('a')?.agentId).toBe('a');
    expect(catalogue.remove('a')).toBeUndefined();
    expect(ids(catalogue)).toEqual(['b']);
    expect(ids(catalogue, { required: parseRequirements(['only_a']) })).toEqual([]);
    expect(catalogue.discover({ countTotal: true }, NOW).total).toBe(1);
    expect(catalogue.due(Number.POSITIVE_INFINITY, 10).map(({ agentId }) => agentId)).toEqual(['b']);
  });

  test('a renewal moves the deadline, the answer and the order of what is due', () => {
    const catalogue = catalogueOf(record('a'), record('b', {}, { deadlineMs: NOW + 20_000 }));
    const entry = catalogue.entry('b');
    if (entry === undefined) throw new Error('b is missing');
    expect(entry.render()).toContain('"expires_at":"2026-05-04T10:00:20.000Z"');
    catalogue.setDeadline(entry, NOW + 50_000);
    expect(entry.render()).toContain('"expires_at":"2026-05-04T10:00:50.000Z"');
    expect(catalogue.due(NOW + 30_000, 10).map(({ agentId }) => agentId)).toEqual(['a']);
    expect(ids(catalogue, {}, NOW + 40_000)).toEqual(['b']);
  });
});

describe('orders and pages', () => {
  const five = (): Catalogue =>
    catalogueOf(
      record('e', {}, { deadlineMs: NOW + 11_000 }),
      record('c', {}, { deadlineMs: NOW + 15_000 }),
      record('a', {}, { deadlineMs: NOW + 11_000 }),
      record('d', {}, { deadlineMs: NOW + 40_000, ttlMs: 60_000 }),
      record('b', {}, { deadlineMs: NOW + 12_000 }),
    );

  test('by id, and by the latest renewal with ids between equals', () => {
    expect(ids(five())).toEqual(['a', 'b', 'c', 'd', 'e']);
    // d was renewed first of all: its lease is longer.
    expect(ids(five(), { order: 'freshest' })).toEqual(['c', 'b', 'a', 'e', 'd']);
  });

  test('at random: another order for another seed', () => {
    const many = Array.from({ length: 40 }, (_, i) => record(`agent-${String(i)}`));
    const orderOf = (random: number): string => {
      const catalogue = new Catalogue({ random: () => random });
      for (const each of many) catalogue.upsert(each);
      const order = ids(catalogue, { order: 'random' });
      expect([...order].sort()).toEqual(many.map(({ agentId }) => agentId).sort());
      return order.join();
    };
    expect(orderOf(0.1)).not.toBe(orderOf(0.2));
    expect(orderOf(0.1)).toBe(orderOf(0.1));
  });

  test('at random: everybody comes first about equally often', () => {
    const first = new Map<string, number>();
    let seed = 0;
    const catalogue = new Catalogue({ random: () => (seed = (seed + 0.618_033_988_75) % 1) });
    for (let i = 0; i < 10; i++) catalogue.upsert(record(`agent-${String(i)}`));
    for (let round = 0; round < 2_000; round++) {
      const [id = ''] = ids(catalogue, { order: 'random', limit: 1 });
      first.set(id, (first.get(id) ?? 0) + 1);
    }
    expect(first.size).toBe(10);
    for (const count of first.values()) expect(count).toBeGreaterThan(100);
  });

  test('the last page carries no cursor, also when it is full', () => {
    const page = five().discover({ limit: 5 }, NOW);
    expect(page.agents).toHaveLength(5);
    expect(page.nextCursor).toBeUndefined();
    expect(five().discover({ limit: 4 }, NOW).nextCursor).toBeDefined();
  });

  test('a page goes on although the agent it ended with has left', () => {
    const catalogue = five();
    const { nextCursor } = catalogue.discover({ limit: 2 }, NOW);
    if (nextCursor === undefined) throw new Error('a second page was expected');
    catalogue.remove('b');
    expect(ids(catalogue, { limit: 2, cursor: nextCursor })).toEqual(['c', 'd']);
  });

  test('a limit beyond 1,000 counts as 1,000, one below 1 is refused', () => {
    const catalogue = new Catalogue();
    for (let i = 0; i < 1_002; i++) catalogue.upsert(record(`agent-${String(i)}`));
    expect(ids(catalogue, { limit: 5_000 })).toHaveLength(1_000);
    expect(ids(catalogue)).toHaveLength(100);
    expect(refusalOf(() => catalogue.discover({ limit: 0 }, NOW)).code).toBe('invalid_limit');
    expect(refusalOf(() => catalogue.discover({ limit: 1.5 }, NOW)).code).toBe('invalid_limit');
  });

  test.each(['', 'x', '%%%', 'bnVsbA', Buffer.from('{"o":"id"}').toString('base64url'), 'a'.repeat(600)])(
    'the cursor %j is refused, also when nobody matches',
    (cursor) => {
      expect(refusalOf(() => five().discover({ cursor }, NOW))).toMatchObject({
        code: 'invalid_cursor',
        path: 'cursor',
      });
      const nobody = { cursor, required: parseRequirements(['nobody']) };
      expect(refusalOf(() => five().discover(nobody, NOW)).code).toBe('invalid_cursor');
    },
  );

  test('a cursor of another order is refused', () => {
    const { nextCursor = '' } = five().discover({ limit: 2, order: 'random' }, NOW);
    expect(refusalOf(() => five().discover({ cursor: nextCursor }, NOW)).message).toContain('order=random');
    expect(refusalOf(() => five().discover({ cursor: nextCursor, order: 'freshest' }, NOW)).code).toBe(
      'invalid_cursor',
    );
  });
});

describe('near misses', () => {
  test('say what each agent lacks, the nearest first', () => {
    const catalogue = catalogueOf(
      record('far', { capabilities: ['translate'], labels: { region: 'us' } }),
      record('match', {
        capabilities: ['translate', 'review'],
        capabilityDetails: { translate: { version: '2.1.0' } },
        labels: { region: 'eu' },
      }),
      record('near', {
        capabilities: ['translate', 'review'],
        capabilityDetails: { translate: { version: '1.9.0' } },
        labels: { region: 'eu' },
      }),
      record('dead', { capabilities: ['translate', 'review'] }, { deadlineMs: NOW }),
      record('excluded', { capabilities: ['translate', 'review'] }),
      record('stranger', { capabilities: ['else'] }),
    );
    const { agents, nearMisses } = catalogue.discover(
      {
        required: parseRequirements(['translate@^2', 'review']),
        labels: { region: 'eu' },
        exclude: ['excluded'],
        explain: true,
      },
      NOW,
    );
    expect(agents.map(({ agentId }) => agentId)).toEqual(['match']);
    expect(nearMisses).toEqual([
      { agentId: 'near', missing: [], versionConflicts: ['translate@^2: 1.9.0'], labels: [] },
      { agentId: 'far', missing: ['review'], versionConflicts: ['translate@^2: no version'], labels: ['region=eu'] },
      { agentId: 'stranger', missing: ['translate', 'review'], versionConflicts: [], labels: ['region=eu'] },
    ]);
  });

  test('are at most 20, and found also when nobody has the capability', () => {
    const catalogue = new Catalogue();
    for (let i = 0; i < 30; i++) catalogue.upsert(record(`agent-${String(i)}`));
    const { nearMisses } = catalogue.discover({ required: parseRequirements(['unheard_of']), explain: true }, NOW);
    expect(nearMisses).toHaveLength(20);
    expect(nearMisses?.[0]).toEqual({ agentId: 'agent-0', missing: ['unheard_of'], versionConflicts: [], labels: [] });
    expect(catalogue.discover({ explain: true }, NOW).nearMisses).toEqual([]);
    expect(catalogue.discover({}, NOW).nearMisses).toBeUndefined();
  });
});
