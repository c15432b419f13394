import { drafts } from './record-drafts.js';
import { SessionLockTimeoutError } from './session-errors.js';
import type { SessionStorage } from './session-storage.js';
import { answers, completed, says, TemporaryFolder, wholeRun } from './sessions.test-helper.js';
import { storageKinds } from './storage-kinds.test-helper.js';

describe.each(storageKinds)('a session storage ($kind)', ({ make }) => {
  let folder: TemporaryFolder;
  let storage: SessionStorage;

  beforeEach(() => {
    folder = new TemporaryFolder();
    storage = make(folder);
  });

  afterEach(async () => {
    await storage.close();
    folder.remove();
  });

  describe('branches', () => {
    it('forks at the head and lets both go their way', async () => {
      const records = await storage.append('s1', 'core', wholeRun('r1'));
      const headId = records[4]?.recordId ?? '';
      const { session, branch, head } = await storage.fork('s1', { branchId: 'exp' });
      expect(branch).toEqual({
        branchId: 'exp',
        intent: 'fork',
        createdRevision: 6,
        headId: head.recordId,
        baseRecordId: headId,
        sourceBranchId: 'main',
      });
      expect(head).toMatchObject({
        parentId: headId,
        sequence: 0,
        type: 'branch_created',
        data: { base_record_id: headId, intent: 'fork', source_branch_id: 'main', source_head_id: headId },
      });
      expect(session.messages).toHaveLength(4);
      await storage.append('s1', 'core', wholeRun('r2', 'on the branch'), { branchId: 'exp' });
      await storage.append('s1', 'core', wholeRun('r3', 'on main'));
      const tasks = async (branchId: string) => (await storage.load('s1', { branchId }))?.runs.map(({ task }) => task);
      expect(await tasks('exp')).toEqual(['do it', 'on the branch']);
      expect(await tasks('main')).toEqual(['do it', 'on main']);
      expect((await storage.listBranches('s1')).map(({ branchId }) => branchId)).toEqual(['main', 'exp']);
    });

    it('rolls back to an ancestor outside of a run', async () => {
      const first = await storage.append('s1', 'core', wholeRun('r1'));
      await storage.append('s1', 'core', wholeRun('r2'));
      const toRecordId = first[4]?.recordId ?? '';
      const { session, branch } = await storage.rollback('s1', { toRecordId });
      expect(session.messages).toHaveLength(4);
      expect(branch.intent).toBe('rollback');
      expect(branch.branchId).toMatch(/^rollback-[0-9a-f]{12}$/);
      expect((await storage.load('s1'))?.messages).toHaveLength(8);
    });

    it('refuses to branch inside of a run, from nowhere, from elsewhere, or twice', async () => {
      const first = await storage.append('s1', 'core', wholeRun('r1'));
      await storage.fork('s1', { branchId: 'exp' });
      const later = await storage.append('s1', 'core', wholeRun('r2'));
      const rollback = (toRecordId: string, sourceBranchId = 'main') =>
        storage.rollback('s1', { toRecordId, sourceBranchId });
      await expect(rollback(first[2]?.recordId ?? '')).rejects.toMatchObject({ code: 'session_run_unfinished' });
      await expect(rollback('zzz')).rejects.toMatchObject({ code: 'session_unknown_record' });
      await expect(rollback(later[4]?.recordId ?? '', 'exp')).rejects.toMatchObject({ code: 'session_not_ancestor' });
      await expect(storage.fork('s1', { branchId: 'exp' })).rejects.toMatchObject({ code: 'session_branch_exists' });
      await expect(storage.fork('s1', { branchId: 'main' })).rejects.toMatchObject({ code: 'session_branch_exists' });
      await expect(storage.fork('s1', { sourceBranchId: 'no' })).rejects.toMatchObject({
        code: 'session_unknown_branch',
      });
      await expect(storage.fork('s2')).rejects.toMatchObject({ code: 'session_unknown_branch' });
      await storage.append('s1', 'core', [drafts.runStarted('r3', 1, 't')]);
      await expect(storage.fork('s1')).rejects.toMatchObject({ code: 'session_run_unfinished' });
      expect(await storage.records('s1')).toHaveLength(12);
    });

    it.each(['', ' ', ' a', '-x', '.hidden', 'a b', 'a\nb', 'a\u0000', '../x'.repeat(40), 'x'.repeat(129)])(
      'refuses the branch name %j',
      async (branchId) => {
        await storage.append('s1', 'core', wholeRun('r1'));
        await expect(storage.fork('s1', { branchId })).rejects.toMatchObject({ code: 'session_invalid_branch' });
      },
    );

    it('prepares the retry of the first run from before everything', async () => {
      await storage.append('s1', 'core', wholeRun('r1', 'first task'));
      const before = await storage.head('s1');
      const { checkout, task, retriedRunId } = await storage.prepareRetry('s1', { runId: 'r1', branchId: 'again' });
      expect({ task, retriedRunId }).toEqual({ task: 'first task', retriedRunId: 'r1' });
      expect(checkout.head).toMatchObject({
        parentId: null,
        data: { base_record_id: null, intent: 'retry', retried_run_id: 'r1', source_branch_id: 'main' },
      });
      expect(checkout.session).toMatchObject({ messages: [], runs: [], agentId: 'core' });
      expect(await storage.records('s1')).toHaveLength(6);
      expect(await storage.head('s1')).toEqual(before);
      await storage.append('s1', 'core', wholeRun('r2', task), { branchId: 'again' });
      expect((await storage.load('s1', { branchId: 'again' }))?.messages).toHaveLength(4);
    });

    it('prepares the retry of a later run and of an unfinished one, from the record before it', async () => {
      const first = await storage.append('s1', 'core', wholeRun('r1'));
      await storage.append('s1', 'core', wholeRun('r2', 'second').slice(0, 2));
      const { checkout, task } = await storage.prepareRetry('s1', { runId: 'r2' });
      expect(task).toBe('second');
      expect(checkout.head.parentId).toBe(first[4]?.recordId);
      expect(checkout.session.messages).toHaveLength(4);
    });

    it('refuses to retry a run that continued another, or none', async () => {
      await storage.append('s1', 'core', wholeRun('r1'));
      await storage.append('s1', 'core', [drafts.runContinued('r2', 1), drafts.runFinished('r2', 2, completed('r2'))]);
      await expect(storage.prepareRetry('s1', { runId: 'r2' })).rejects.toMatchObject({
        code: 'session_run_has_no_task',
      });
      await expect(storage.prepareRetry('s1', { runId: 'no' })).rejects.toMatchObject({ code: 'session_unknown_run' });
    });

    it('checks out any record', async () => {
      const records = await storage.append('s1', 'core', wholeRun('r1'));
      const recordId = records[1]?.recordId ?? '';
      const checkout = await storage.checkout('s1', { recordId });
      expect(checkout?.session.messages).toHaveLength(2);
      expect(checkout?.session.headId).toBe(recordId);
      expect(checkout?.branch.headId).toBe(recordId);
      expect((await storage.load('s1'))?.messages).toHaveLength(4);
    });
  });

  describe('unfinished runs', () => {
    const crashed = () => [
      drafts.runStarted('r1', 1, 'do it'),
      drafts.assistant('r1', 3, says('both', 'c1', 'c2', 'c3')),
      drafts.toolMessages('r1', 5, [answers('c2')]),
    ];

    it('closes one with unknown outcomes for its open calls', async () => {
      await storage.append('s1', 'core', crashed());
      const abandoned = await storage.abandon('s1', { reason: 'power cut' });
      expect(abandoned).toMatchObject({ runId: 'r1', unknownCallIds: ['c1', 'c3'] });
      const session = await storage.load('s1');
      expect(session).toEqual(abandoned?.session);
      const unknown = session?.messages.slice(3).map((message) => message.content ?? '');
      expect(unknown?.map((text) => JSON.parse(text) as unknown)).toEqual([
        { status: 'cancelled', tool: 'write', code: 'outcome_unknown', error: 'power cut' },
        { status: 'cancelled', tool: 'write', code: 'outcome_unknown', error: 'power cut' },
      ]);
      expect(session?.runs[0]?.result).toEqual({
        runId: 'r1',
        status: 'cancelled',
        stopReason: 'external_abort',
        output: null,
        turns: 1,
        usage: {
          inputTokens: 9,
          outputTokens: 1,
          totalTokens: 10,
          cacheReadTokens: null,
          cacheWriteTokens: null,
          reasoningTokens: null,
          requestCount: 1,
          reportedRequestCount: 1,
        },
        error: 'power cut',
      });
      const sequences = (await storage.records('s1')).map(({ sequence }) => sequence);
      expect(sequences).toEqual([1, 3, 5, 6, 7]);
      await storage.append('s1', 'core', wholeRun('r2'));
      expect(await storage.abandon('s1')).toBeNull();
    });

    it('has nothing to abandon where no run is open', async () => {
      expect(await storage.abandon('s1')).toBeNull();
      await storage.append('s1', 'core', wholeRun('r1'));
      expect(await storage.abandon('s1')).toBeNull();
      expect(await storage.records('s1')).toHaveLength(5);
    });

    it('does not abandon a run whose lock is held', async () => {
      const lock = await storage.lockRun('s1');
      await storage.append('s1', 'core', crashed());
      await expect(storage.abandon('s1', { waitMs: 20 })).rejects.toThrow(SessionLockTimeoutError);
      expect(await storage.records('s1')).toHaveLength(3);
      expect(await storage.abandon('s1', { lock })).toMatchObject({ runId: 'r1' });
      lock.release();
    });

    it('does not abandon a run that ended while its lock was waited for', async () => {
      const lock = await storage.lockRun('s1');
      await storage.append('s1', 'core', wholeRun('r1').slice(0, 4));
      const abandoned = storage.abandon('s1');
      await storage.append('s1', 'core', wholeRun('r1').slice(4));
      lock.release();
      expect(await abandoned).toBeNull();
      expect(await storage.records('s1')).toHaveLength(5);
    });
  });
});
