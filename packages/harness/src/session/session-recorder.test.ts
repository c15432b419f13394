import { getEventListeners } from 'node:events';
import { openSession } from './open-session.js';
import { SessionConflictError, SessionError, SessionLockTimeoutError, SessionStorageError } from './session-errors.js';
import { SessionRecorder, type SessionRecorderOptions } from './session-recorder.js';
import type { SessionStorage } from './session-storage.js';
import { answers, completed, opening, recordRun, says, TemporaryFolder, wholeRun } from './sessions.test-helper.js';
import { storageKinds } from './storage-kinds.test-helper.js';

describe.each(storageKinds)('a session recorder ($kind)', ({ make }) => {
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

  const options = (more: Partial<SessionRecorderOptions> = {}): SessionRecorderOptions => ({
    storage,
    sessionId: 's1',
    agentId: 'core',
    ...more,
  });
  const recorder = (more: Partial<SessionRecorderOptions> = {}) => new SessionRecorder(options(more));
  const types = async () => (await storage.records('s1')).map(({ type }) => type);

  describe('recording', () => {
    it('records everything that a run commits', async () => {
      const journal = recorder();
      const summary = { content: 'S', source: 'm', historyStart: 0, firstKept: 1, messageCount: 1, tokensBefore: 9 };
      const control = { inputId: 'i1', kind: 'steering' as const, content: 'hurry' };
      await journal.beginRun(opening('r1'));
      await journal.appendAssistant('r1', 3, says('look', 'c1'));
      await journal.appendToolMessages('r1', 5, [answers('c1')]);
      await journal.applySteering('r1', 8, control, 2);
      await journal.applyCompaction(9, 'op1', summary, [{ role: 'system', content: 'S', summary }]);
      await journal.appendAssistant('r1', 11, says('done'));
      await journal.finishRun('r1', 13, completed('r1'));
      await recordRun(journal, 'r2', null);
      expect(await types()).toEqual([
        'run_started',
        'message_appended',
        'messages_appended',
        'steering_applied',
        'compaction_applied',
        'message_appended',
        'run_finished',
        'run_continued',
        'message_appended',
        'run_finished',
      ]);
      const session = await storage.load('s1');
      expect(session?.messages.map(({ content }) => content)).toEqual(['S', 'done', 'done']);
    });

    it('puts records in the order of their calls, also of those that nobody waited for', async () => {
      const journal = recorder();
      await journal.beginRun(opening('r1'));
      await Promise.all(['a', 'b', 'c', 'd'].map((text, at) => journal.appendAssistant('r1', at + 2, says(text))));
      const session = await storage.load('s1');
      expect(session?.messages.map(({ content }) => content)).toEqual(['do it', 'a', 'b', 'c', 'd']);
    });

    it('records a compaction outside of a run, and goes on', async () => {
      const journal = recorder();
      await recordRun(journal, 'r1');
      const summary = { content: 'S', source: 'm', historyStart: 0, firstKept: 1, messageCount: 1, tokensBefore: 9 };
      await journal.applyCompaction(2, 'op1', summary, [{ role: 'system', content: 'S', summary }]);
      await recordRun(journal, 'r2');
      expect((await storage.load('s1'))?.messages).toHaveLength(3);
    });

    it('refuses what belongs to no active run', async () => {
      const journal = recorder();
      await expect(journal.appendAssistant('r1', 3, says('x'))).rejects.toThrow(SessionError);
      await journal.beginRun(opening('r1'));
      await expect(journal.appendAssistant('r2', 3, says('x'))).rejects.toThrow(SessionError);
      await expect(journal.beginRun(opening('r2'))).rejects.toThrow(SessionConflictError);
      await expect(journal.open()).rejects.toMatchObject({ code: 'session_run_active' });
      await journal.release();
      await journal.release();
      expect(await types()).toEqual(['run_started']);
    });
  });

  describe('opening', () => {
    it('gives null for a new session and the history of a stored one', async () => {
      const first = await openSession(options());
      expect(first.session).toBeNull();
      await recordRun(first.journal, 'r1');
      const second = await openSession(options());
      expect(second.session).toEqual(await storage.load('s1'));
      await recordRun(second.journal, 'r2');
      expect((await storage.load('s1'))?.runs).toHaveLength(2);
    });

    it('refuses another agent’s session and an unknown branch', async () => {
      await storage.append('s1', 'other', wholeRun('r1'));
      await expect(openSession(options())).rejects.toThrow(SessionConflictError);
      await expect(openSession(options({ branchId: 'nope' }))).rejects.toMatchObject({
        code: 'session_unknown_branch',
      });
    });

    it('continues a branch and leaves main as it is', async () => {
      await storage.append('s1', 'core', wholeRun('r1'));
      const head = await storage.head('s1');
      await storage.fork('s1', { branchId: 'exp' });
      const { journal, session } = await openSession(options({ branchId: 'exp' }));
      expect(session).toMatchObject({ branchId: 'exp' });
      await recordRun(journal, 'r2');
      expect(await storage.head('s1')).toEqual(head);
      expect((await storage.load('s1', { branchId: 'exp' }))?.runs).toHaveLength(2);
    });
  });

  describe('a run left unfinished by its process', () => {
    beforeEach(async () => {
      await storage.append('s1', 'core', wholeRun('r1').slice(0, 2));
    });

    it('is refused loudly, at opening and at the start of a run', async () => {
      await expect(openSession(options())).rejects.toThrow(/a run of this session ended with its process/);
      await expect(recorder().beginRun(opening('r2'))).rejects.toThrow(SessionConflictError);
      await expect(recorder({ onUnfinished: 'abandon' }).beginRun(opening('r2'))).rejects.toThrow(SessionConflictError);
      expect(await types()).toEqual(['run_started', 'message_appended']);
    });

    it('is abandoned if that is wanted, and the next run is recorded', async () => {
      const { journal, session } = await openSession(options({ onUnfinished: 'abandon' }));
      expect(session?.runs[0]?.result?.stopReason).toBe('external_abort');
      expect(session?.messages.at(-1)).toMatchObject({ role: 'tool', toolCallId: 'call-r1' });
      await recordRun(journal, 'r2');
      expect(await types()).toEqual([
        'run_started',
        'message_appended',
        'messages_appended',
        'run_finished',
        'run_started',
        'message_appended',
        'run_finished',
      ]);
    });
  });

  describe('two agents on one session', () => {
    it('lets the second wait, and tells it that the history moved before it asks its model', async () => {
      const first = recorder();
      const second = recorder();
      await first.beginRun(opening('r1'));
      const waiting = second.beginRun(opening('r2'));
      await first.appendAssistant('r1', 3, says('done'));
      await first.finishRun('r1', 5, completed('r1'));
      await expect(waiting).rejects.toThrow(/a history that this agent has not read/);
      expect(await types()).toEqual(['run_started', 'message_appended', 'run_finished']);
      const { session } = await second.open();
      expect(session?.messages).toHaveLength(2);
      await recordRun(second, 'r2');
      await expect(first.beginRun(opening('r3'))).rejects.toThrow(SessionConflictError);
    });

    it('ends the wait at its deadline, or when the run is aborted', async () => {
      const first = recorder();
      await first.beginRun(opening('r1'));
      const hurried = recorder({ runLockWaitMs: 10 });
      await expect(hurried.beginRun(opening('r2'))).rejects.toThrow(SessionLockTimeoutError);
      await expect(hurried.open()).rejects.toThrow(SessionLockTimeoutError);
      const controller = new AbortController();
      const waiting = recorder().beginRun(opening('r2', 'do it', controller.signal));
      // The lock is asked for at once; the listener shows that it is waited for.
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
      controller.abort(new Error('enough'));
      await expect(waiting).rejects.toThrow('enough');
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
      await first.finishRun('r1', 5, completed('r1'));
      await recordRun(first, 'r3');
    });

    it('waits with opening until the active run has ended', async () => {
      const first = recorder();
      await first.beginRun(opening('r1'));
      const opened = recorder({ onUnfinished: 'abandon' }).open();
      await first.finishRun('r1', 5, completed('r1'));
      expect((await opened).session?.runs[0]?.result?.stopReason).toBe('text_response');
    });

    it('keeps branches apart: both run at once', async () => {
      await storage.append('s1', 'core', wholeRun('r1'));
      await storage.fork('s1', { branchId: 'exp' });
      const main = await openSession(options());
      const exp = await openSession(options({ branchId: 'exp' }));
      await main.journal.beginRun(opening('r2'));
      await exp.journal.beginRun(opening('r3'));
      await exp.journal.appendAssistant('r3', 3, says('exp'));
      await main.journal.appendAssistant('r2', 3, says('main'));
      await main.journal.finishRun('r2', 5, completed('r2'));
      await exp.journal.finishRun('r3', 5, completed('r3'));
      expect((await storage.load('s1', { branchId: 'exp' }))?.messages.at(-1)?.content).toBe('exp');
      expect((await storage.load('s1'))?.messages.at(-1)?.content).toBe('main');
    });
  });

  describe('after a failed write', () => {
    /** Appends fail while `broken` is set. */
    let broken: boolean;
    let failing: SessionStorage;

    beforeEach(() => {
      broken = false;
      const append: SessionStorage['append'] = (...args) =>
        broken ? Promise.reject(new SessionStorageError('ENOSPC')) : storage.append(...args);
      failing = new Proxy(storage, {
        get: (target, key) => {
          if (key === 'append') return append;
          const value: unknown = Reflect.get(target, key, target);
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        },
      });
    });

    it('gives the session free when not even the start could be recorded', async () => {
      const journal = recorder({ storage: failing });
      broken = true;
      await expect(journal.beginRun(opening('r1'))).rejects.toThrow('ENOSPC');
      broken = false;
      await recordRun(journal, 'r1');
      expect(await types()).toHaveLength(3);
    });

    it('closes its own run before the next one, once writing works again', async () => {
      const journal = recorder({ storage: failing });
      await journal.beginRun(opening('r1'));
      broken = true;
      await expect(journal.appendAssistant('r1', 3, says('lost'))).rejects.toThrow('ENOSPC');
      await expect(journal.finishRun('r1', 5, completed('r1'))).rejects.toThrow('ENOSPC');
      await journal.release();
      await expect(journal.beginRun(opening('r2'))).rejects.toThrow('ENOSPC');
      broken = false;
      await recordRun(journal, 'r2');
      const session = await storage.load('s1');
      expect(session?.runs.map(({ result }) => result?.stopReason)).toEqual(['persistence_failed', 'text_response']);
      expect(session?.messages.map(({ content }) => content)).toEqual(['do it', 'do it', 'done']);
    });

    it('wants the session to be read again if results of calls were lost', async () => {
      const journal = recorder({ storage: failing });
      await journal.beginRun(opening('r1'));
      await journal.appendAssistant('r1', 3, says('look', 'c1'));
      broken = true;
      await expect(journal.appendToolMessages('r1', 5, [answers('c1')])).rejects.toThrow('ENOSPC');
      await journal.release();
      broken = false;
      await expect(journal.beginRun(opening('r2'))).rejects.toThrow(/results of tool calls were lost/);
      await expect(journal.beginRun(opening('r2'))).rejects.toThrow(SessionConflictError);
      const { session } = await journal.open();
      expect(session?.messages.at(-1)?.content).toContain('outcome_unknown');
      await recordRun(journal, 'r2');
      expect((await storage.load('s1'))?.runs).toHaveLength(2);
    });
  });
});
