import { drafts } from './record-drafts.js';
import { MemorySessionStorage } from './memory-session-storage.js';
import { sessionFromJson, sessionToJson } from './session-codec.js';
import {
  SessionConflictError,
  SessionError,
  SessionLockTimeoutError,
  SessionSerializationError,
} from './session-errors.js';
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

  const summary = { content: 'S', source: 'm', historyStart: 0, firstKept: 4, messageCount: 4, tokensBefore: 99 };
  const summaryMessage = { role: 'system' as const, content: 'Summary: S', summary };

  describe('append and load', () => {
    it('knows nothing of a session that was never written', async () => {
      expect(await storage.load('s1')).toBeNull();
      expect(await storage.head('s1')).toBeNull();
      expect(await storage.checkout('s1')).toBeNull();
      expect(await storage.records('s1')).toEqual([]);
      expect(await storage.listBranches('s1')).toEqual([]);
      expect(await storage.listSessions()).toEqual([]);
    });

    it('gives records their ids, parents and revisions', async () => {
      const records = await storage.append('s1', 'core', wholeRun('r1'));
      expect(records.map(({ revision }) => revision)).toEqual([1, 2, 3, 4, 5]);
      expect(records.map(({ parentId }) => parentId)).toEqual([null, ...records.slice(0, -1).map((r) => r.recordId)]);
      expect(records.every(({ recordId }) => /^[0-9a-f]{32}$/.test(recordId))).toBe(true);
      expect(await storage.records('s1')).toEqual(records);
      expect(await storage.head('s1')).toEqual(records[4]);
    });

    it('adds the records of a run up to its history and result', async () => {
      await storage.append('s1', 'core', wholeRun('r1'));
      const session = await storage.load('s1');
      expect(session).toMatchObject({ sessionId: 's1', agentId: 'core', branchId: 'main', revision: 5 });
      expect(session?.messages).toEqual([
        { role: 'user', content: 'do it' },
        says('look', 'call-r1'),
        answers('call-r1'),
        says('done'),
      ]);
      expect(session?.runs).toEqual([
        {
          runId: 'r1',
          intent: 'task',
          task: 'do it',
          startSequence: 1,
          finishSequence: 10,
          finished: true,
          result: completed('r1'),
        },
      ]);
    });

    it('keeps reasoning, null content, unknown usage, and parts of results that only some have', async () => {
      const message = { role: 'assistant' as const, content: null, toolCalls: [], reasoning: 'because' };
      const result = { ...completed('r1'), partial: 'half', phase: 'skill' as const };
      const unknown = { ...result, usage: { ...result.usage, inputTokens: null, totalTokens: null } };
      await storage.append('s1', 'core', [
        drafts.runStarted('r1', 1, ''),
        drafts.assistant('r1', 3, message),
        drafts.runFinished('r1', 4, unknown),
      ]);
      const session = await storage.load('s1');
      expect(session?.messages).toEqual([{ role: 'user', content: '' }, message]);
      expect(session?.runs[0]?.result).toEqual(unknown);
    });

    it('makes steering a user message, and continues without one', async () => {
      const control = { inputId: 'i1', kind: 'steering' as const, content: 'hurry' };
      await storage.append('s1', 'core', wholeRun('r1'));
      await storage.append('s1', 'core', [drafts.runContinued('r2', 1), drafts.steering('r2', 3, control, 1)]);
      const session = await storage.load('s1');
      expect(session?.messages.at(-1)).toEqual({ role: 'user', content: 'hurry' });
      expect(session?.messages).toHaveLength(5);
      expect(session?.runs[1]).toMatchObject({ intent: 'continue', task: null, finished: false, result: null });
    });

    it('replaces the history by what a compaction left, and keeps what was said', async () => {
      await storage.append('s1', 'core', wholeRun('r1'));
      await storage.append('s1', 'core', [drafts.compaction(2, 'op1', summary, [summaryMessage])]);
      await storage.append('s1', 'core', [drafts.runStarted('r2', 1, 'next')]);
      const session = await storage.load('s1');
      expect(session?.messages).toEqual([summaryMessage, { role: 'user', content: 'next' }]);
      expect(session?.entries).toHaveLength(5);
      expect(session?.compactions).toEqual([
        { operationId: 'op1', sequence: 2, summary, messages: [summaryMessage], coveredEntryCount: 4 },
      ]);
    });

    it('does not change what it gave out before', async () => {
      await storage.append('s1', 'core', wholeRun('r1'));
      const before = await storage.load('s1');
      const records = await storage.records('s1');
      await storage.append('s1', 'core', wholeRun('r2'));
      expect(before?.messages).toHaveLength(4);
      expect(before?.runs).toHaveLength(1);
      expect(records).toHaveLength(5);
      expect((await storage.load('s1'))?.messages).toHaveLength(8);
    });

    it('takes ids with blanks around them for the same session', async () => {
      await storage.append(' s1 ', 'core', wholeRun('r1'));
      expect((await storage.load('s1'))?.sessionId).toBe('s1');
      await expect(storage.load('  ')).rejects.toMatchObject({ code: 'session_invalid_id' });
    });

    it('lists sessions with the newest first', async () => {
      await storage.append('old', 'core', wholeRun('r1'));
      await storage.append('new', 'other', wholeRun('r2'));
      const sessions = await storage.listSessions();
      expect(new Set(sessions.map(({ sessionId, agentId }) => `${sessionId} ${String(agentId)}`))).toEqual(
        new Set(['old core', 'new other']),
      );
      expect(sessions.map(({ modifiedMs }) => modifiedMs)).toEqual(
        sessions.map(({ modifiedMs }) => modifiedMs).sort((left, right) => right - left),
      );
    });
  });

  describe('refusals', () => {
    it('refuses an append at a head that is not the expected one', async () => {
      const records = await storage.append('s1', 'core', wholeRun('r1'), { expectedHead: null });
      const stale = records[1]?.recordId ?? '';
      const append = (expectedHead: string | null) =>
        storage.append('s1', 'core', [drafts.runStarted('r2', 1, 't')], { expectedHead });
      await expect(append(stale)).rejects.toThrow(SessionConflictError);
      await expect(append(null)).rejects.toThrow(SessionConflictError);
      await append(records[4]?.recordId ?? '');
      expect(await storage.records('s1')).toHaveLength(6);
    });

    it('lets only one of two appends at the same head win', async () => {
      await storage.append('s1', 'core', wholeRun('r1'));
      const expectedHead = (await storage.head('s1'))?.recordId ?? null;
      const appends = ['r2', 'r3'].map((id) =>
        storage.append('s1', 'core', [drafts.runStarted(id, 1, 't')], { expectedHead }),
      );
      const outcomes = await Promise.allSettled(appends);
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
      expect(await storage.records('s1')).toHaveLength(6);
    });

    const misfits = [
      ['another agent', 'other', [drafts.runStarted('r9', 1, 't')]],
      ['a run inside of another', 'core', [drafts.runStarted('r8', 1, 't'), drafts.runStarted('r9', 1, 't')]],
      ['a run id twice', 'core', [drafts.runStarted('r1', 1, 't')]],
      ['a message of a run that is not open', 'core', [drafts.assistant('r1', 1, says('x'))]],
      ['the end of a run that is not open', 'core', [drafts.runFinished('r1', 1, completed('r1'))]],
      [
        'data without what its type needs',
        'core',
        [{ type: 'run_started' as const, sequence: 1, data: { run_id: 'r9' } }],
      ],
      [
        'data that is no JSON',
        'core',
        [{ type: 'run_started' as const, sequence: 1, data: { run_id: 'r9', task: 't', extra: Number.NaN } }],
      ],
    ] as const;
    it.each(misfits)('refuses %s, and nothing of it is left', async (_name, agentId, records) => {
      await storage.append('s1', 'core', wholeRun('r1'));
      await expect(storage.append('s1', agentId, records)).rejects.toThrow(SessionSerializationError);
      expect(await storage.records('s1')).toHaveLength(5);
      await storage.append('s1', 'core', wholeRun('r2'));
      expect((await storage.load('s1'))?.runs).toHaveLength(2);
    });

    it('refuses unknown branches', async () => {
      await storage.append('s1', 'core', wholeRun('r1'));
      const append = storage.append('s1', 'core', [drafts.runStarted('r2', 1, 't')], { branchId: 'nope' });
      await expect(append).rejects.toMatchObject({ code: 'session_unknown_branch' });
      expect(await storage.load('s1', { branchId: 'nope' })).toBeNull();
      await expect(storage.checkout('s1', { recordId: 'nope' })).rejects.toMatchObject({
        code: 'session_unknown_record',
      });
    });

    it('refuses everything once it is closed', async () => {
      await storage.close();
      await storage.close();
      await expect(storage.load('s1')).rejects.toMatchObject({ code: 'session_storage_closed' });
      await expect(storage.append('s1', 'core', wholeRun('r1'))).rejects.toThrow(SessionError);
      await expect(storage.lockRun('s1')).rejects.toThrow(SessionError);
    });
  });

  describe('run locks', () => {
    it('gives a branch to one run at a time, in the order of asking', async () => {
      const first = await storage.lockRun('s1');
      const order: string[] = [];
      const second = storage.lockRun('s1').then((lock) => (order.push('second'), lock));
      const third = storage.lockRun('s1').then((lock) => (order.push('third'), lock));
      await expect(storage.lockRun('s1', { waitMs: 0 })).rejects.toThrow(SessionLockTimeoutError);
      first.release();
      first.release();
      (await second).release();
      (await third).release();
      expect(order).toEqual(['second', 'third']);
    });

    it('keeps branches and sessions apart', async () => {
      const locks = await Promise.all([
        storage.lockRun('s1'),
        storage.lockRun('s2', { waitMs: 0 }),
        storage.lockRun('s1', { branchId: 'exp', waitMs: 0 }),
      ]);
      for (const lock of locks) lock.release();
      expect(locks.map(({ branchId }) => branchId)).toEqual(['main', 'main', 'exp']);
    });

    it('gives its locks free when it is closed, and to nobody who still waits', async () => {
      await storage.lockRun('s1');
      const waiting = storage.lockRun('s1');
      await storage.close();
      await expect(waiting).rejects.toMatchObject({ code: 'session_storage_closed' });
      const next = make(folder);
      (await next.lockRun('s1', { waitMs: 0 })).release();
      await next.close();
    });

    it('stops waiting when it is told to', async () => {
      const lock = await storage.lockRun('s1');
      const controller = new AbortController();
      const waiting = storage.lockRun('s1', { signal: controller.signal });
      const reason = new Error('no longer wanted');
      controller.abort(reason);
      await expect(waiting).rejects.toBe(reason);
      await expect(storage.lockRun('s1', { signal: controller.signal })).rejects.toBe(reason);
      lock.release();
      (await storage.lockRun('s1', { waitMs: 0 })).release();
    });
  });

  describe('import and export', () => {
    it('takes over a session as it was, through its document', async () => {
      await storage.append('s1', 'core', wholeRun('r1'));
      await storage.append('s1', 'core', [drafts.compaction(2, 'op1', summary, [summaryMessage])]);
      await storage.append('s1', 'core', wholeRun('r2'));
      const exported = await storage.load('s1');
      const document = JSON.parse(JSON.stringify(exported && sessionToJson(exported))) as unknown;
      const other = new MemorySessionStorage();
      const record = await other.save(sessionFromJson(document));
      expect(record).toMatchObject({ type: 'checkpoint', sequence: 0, revision: 1, agentId: 'core' });
      const imported = await other.load('s1');
      expect(imported).toEqual({ ...exported, revision: 1, headId: record.recordId });
      await other.append('s1', 'core', wholeRun('r3'));
      expect((await other.load('s1'))?.messages).toHaveLength(9);
    });

    it('stores a checkpoint over what was there, though not inside of a run', async () => {
      await storage.append('s1', 'core', wholeRun('r1'));
      const first = await storage.load('s1');
      await storage.append('s1', 'core', wholeRun('r2'));
      if (first === null) throw new Error('no session');
      await storage.save(first);
      expect((await storage.load('s1'))?.messages).toHaveLength(4);
      await storage.append('s1', 'core', [drafts.runStarted('r3', 1, 't')]);
      await expect(storage.save(first)).rejects.toMatchObject({ code: 'session_run_unfinished' });
    });

    it('takes a session that no agent has used yet', async () => {
      const document = {
        schema_version: 1,
        session: { session_id: 's1', agent_id: null, entries: [], runs: [], compactions: [] },
      };
      await storage.save(sessionFromJson(document));
      expect((await storage.load('s1'))?.agentId).toBeNull();
      await storage.append('s1', 'core', wholeRun('r1'));
      expect((await storage.load('s1'))?.agentId).toBe('core');
    });
  });

  it('has nothing to repair in a good session', async () => {
    await storage.append('s1', 'core', wholeRun('r1'));
    expect(await storage.repair('s1')).toEqual({
      sessionId: 's1',
      keptRecords: 5,
      problem: null,
      setAsideBytes: 0,
      setAsidePath: null,
    });
  });
});
