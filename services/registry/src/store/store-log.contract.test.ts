import { describeStores, OWNER, told } from '../testing/store-bench.js';
import { LogGap, type AgreementCommand } from './store.js';

describeStores((bench) => {
  describe('the log', () => {
    test('numbers its lines without holes and is read on from anywhere', async () => {
      const before = await bench.start();
      for (let i = 0; i < 450; i++) await bench.registered(`agent-${String(i)}`);
      const all = await bench.changes(before, 450);
      expect(all.map(({ revision }) => revision)).toEqual(all.map((_, i) => before.revision + 1 + i));
      const middle = { ...before, revision: before.revision + 440, mark: '' };
      expect(await bench.changes(middle, 10)).toEqual(all.slice(440));
    });

    test('wakes a reader that waits', async () => {
      const before = await bench.start();
      const next = bench.changes(before, 1);
      await bench.registered('a');
      expect(told(await next)).toEqual(['registered a']);
    });

    test('ends for a reader that leaves', async () => {
      const leaving = new AbortController();
      const batches = [];
      for await (const batch of bench.store.changes(await bench.start(), leaving.signal)) {
        batches.push(batch);
        leaving.abort();
      }
      expect(batches).toHaveLength(1);
      expect(batches[0]?.changes).toEqual([]);
    });

    test('says so when it does not reach back far enough', async () => {
      await bench.reopen({ changesMaxLength: 100 });
      const before = await bench.start();
      for (let i = 0; i < 700; i++) await bench.registered(`agent-${String(i)}`);
      await expect(bench.changes(before, 1)).rejects.toMatchObject({ reason: 'too_old' });
      expect(await bench.changes({ ...before, revision: before.revision + 650, mark: '' }, 50)).toHaveLength(50);
    });

    test('is another one after the store has lost its data', async () => {
      const before = await bench.start();
      const wrong = bench.changes({ ...before, epoch: 'another' }, 1);
      await expect(wrong).rejects.toBeInstanceOf(LogGap);
      await expect(wrong).rejects.toMatchObject({ reason: 'epoch_changed' });
    });
  });

  test('a snapshot comes in bounded batches and is completed by the log', async () => {
    for (let i = 0; i < 1_200; i++) await bench.registered(`agent-${String(i)}`);
    const { position, records } = await bench.store.snapshot();
    await bench.registered('late');
    const sizes: number[] = [];
    const ids = new Set<string>();
    for await (const batch of records) {
      sizes.push(batch.length);
      for (const { agentId } of batch) ids.add(agentId);
    }
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000);
    ids.delete('late');
    expect(ids.size).toBe(1_200);
    expect(told(await bench.changes(position, 1))).toEqual(['registered late']);
  });

  describe('orphans', () => {
    test('are known by their deadline, and come back as updated', async () => {
      await bench.registered('known');
      const before = await bench.start();
      const soon = bench.store.now() + 5_000;
      const views = await bench.store.adoptOrphans([
        { agentId: 'x', deadlineMs: soon },
        { agentId: 'known', deadlineMs: soon },
      ]);
      expect(views).toEqual([
        { kind: 'orphan', deadlineMs: Math.floor(soon) },
        { kind: 'record', revision: before.revision, deadlineMs: expect.any(Number) as number },
      ]);
      // Another replica has another opinion; the first one counts.
      const [again] = await bench.store.adoptOrphans([{ agentId: 'x', deadlineMs: soon + 1_000 }]);
      expect(again).toEqual(views[0]);
      expect(await bench.store.renew('x', OWNER)).toMatchObject({ kind: 'unknown' });
      expect(await bench.store.verifyOwner('x', OWNER)).toBe('unknown');
      expect(await bench.held()).toEqual(['known']);
      expect(await bench.store.register(bench.command('x'))).toMatchObject({ kind: 'registered' });
      expect(told(await bench.changes(before, 1))).toEqual(['updated x']);
      expect(await bench.held()).toEqual(['known', 'x']);
    });

    test('expire once, and only the operator can end them', async () => {
      const before = await bench.start();
      const deadlineMs = bench.store.now() + 20;
      await bench.store.adoptOrphans([
        { agentId: 'x', deadlineMs },
        { agentId: 'y', deadlineMs: bench.store.now() + 60_000 },
      ]);
      await bench.pass(40);
      expect(await bench.sweep()).toMatchObject({ expired: 1 });
      expect(await bench.sweep()).toMatchObject({ expired: 0 });
      expect(await bench.store.deregister('y', { tokenHash: OWNER })).toMatchObject({ kind: 'unknown' });
      expect(await bench.store.deregister('y', { operator: true })).toMatchObject({ kind: 'done' });
      expect(told(await bench.changes(before, 2))).toEqual(['expired x', 'deregistered y']);
    });
  });

  describe('agreements', () => {
    const agreement = (
      agreementId: string,
      version: number,
      more: Partial<AgreementCommand> = {},
    ): AgreementCommand => ({
      agreementId,
      version,
      state: 'active',
      parties: ['a', 'b'],
      json: `{"agreement_id":"${agreementId}","version":${String(version)}}`,
      ttlMs: 60_000,
      changeType: 'agreed',
      ...more,
    });

    test('only a newer version is taken, and told once', async () => {
      const before = await bench.start();
      expect(await bench.store.recordAgreement(agreement('g', 2))).toEqual({
        recorded: true,
        revision: before.revision + 1,
      });
      expect(await bench.store.recordAgreement(agreement('g', 2))).toEqual({ recorded: false });
      expect(await bench.store.recordAgreement(agreement('g', 1))).toEqual({ recorded: false });
      const ended = agreement('g', 10, { state: 'ended', changeType: 'ended' });
      expect(await bench.store.recordAgreement(ended)).toMatchObject({ recorded: true });
      const lines = await bench.changes(before, 2);
      expect(told(lines)).toEqual(['agreed g', 'ended g']);
      expect(lines[1]).toMatchObject({ agreementJson: ended.json });
      expect(await bench.store.getAgreement('g')).toEqual({
        agreementId: 'g',
        version: 10,
        state: 'ended',
        json: ended.json,
      });
      expect(await bench.store.getAgreement('h')).toBeUndefined();
    });

    test('are listed by id, by state and by party, page by page', async () => {
      for (let i = 0; i < 7; i++) {
        const more = { state: i % 2 === 0 ? 'active' : 'ended', parties: ['a', i < 4 ? 'b' : 'c'] as const };
        await bench.store.recordAgreement(agreement(`g${String(i)}`, 1, more));
      }
      const list = async (filter: {
        state?: string;
        agentId?: string;
        afterId?: string;
        limit?: number;
      }): Promise<string> => {
        const { agreements, nextAfterId } = await bench.store.listAgreements({ limit: 100, ...filter });
        return `${agreements.map(({ agreementId }) => agreementId).join(' ')} ${nextAfterId ?? '.'}`;
      };
      expect(await list({})).toBe('g0 g1 g2 g3 g4 g5 g6 .');
      expect(await list({ state: 'ended' })).toBe('g1 g3 g5 .');
      expect(await list({ agentId: 'c' })).toBe('g4 g5 g6 .');
      expect(await list({ agentId: 'a', state: 'active', limit: 2 })).toBe('g0 g2 g2');
      expect(await list({ agentId: 'a', state: 'active', limit: 2, afterId: 'g2' })).toBe('g4 g6 .');
      expect(await list({ agentId: 'nobody' })).toBe(' .');
    });

    test('are forgotten when their time is over, and when there are too many', async () => {
      await bench.reopen({ maxAgreements: 2 });
      await bench.store.recordAgreement(agreement('short', 1, { ttlMs: 20 }));
      await bench.pass(30);
      await bench.sweep();
      expect(await bench.store.getAgreement('short')).toBeUndefined();
      for (const [id, ttlMs] of [
        ['x', 5_000],
        ['y', 9_000],
        ['z', 7_000],
      ] as const) {
        await bench.store.recordAgreement(agreement(id, 1, { ttlMs }));
      }
      const { agreements } = await bench.store.listAgreements({ limit: 10 });
      expect(agreements.map(({ agreementId }) => agreementId)).toEqual(['y', 'z']);
    });
  });
});
