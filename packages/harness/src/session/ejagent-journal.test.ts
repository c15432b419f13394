import { readFileSync } from 'node:fs';
import { recordToLine } from './record-codec.js';
import { JsonlSessionStorage } from './jsonl-session-storage.js';
import { TemporaryFolder, wholeRun } from './sessions.test-helper.js';

/** Written by EJAgent Core 0.6.0: tools, steering, a continued run, a compaction, three branches, a checkpoint. */
const recorded = readFileSync(new URL('./testing/ejagent-core-0.6.0.jsonl', import.meta.url));

describe('a journal of EJAgent Core 0.6.0', () => {
  let folder: TemporaryFolder;
  let storage: JsonlSessionStorage;

  beforeEach(() => {
    folder = new TemporaryFolder();
    folder.write('s1', recorded);
    storage = new JsonlSessionStorage(folder.path);
  });

  afterEach(async () => {
    await storage.close();
    folder.remove();
  });

  const texts = async (branchId: string) =>
    (await storage.load('s1', { branchId }))?.messages.map(({ role, content }) => `${role}: ${String(content)}`);

  const compacted = [
    'system: Conversation summary from earlier turns:\n\nS1',
    'user: second',
    'assistant: t',
    'assistant: u',
    'tool: written',
    'tool: written',
    'assistant: v',
    'user: steered',
    'assistant: s1',
    'tool: written',
    'user: please hurry',
    'assistant: s2',
  ];

  it('gives every branch the history that it had there', async () => {
    expect(await texts('main')).toEqual(compacted);
    expect(await texts('exp')).toEqual(compacted);
    expect(await texts('back')).toEqual([
      'user: do it',
      'assistant: look',
      'tool: written',
      'assistant: done — fertig',
      'user: branch task',
      'assistant: on the branch',
    ]);
    expect(await texts('again')).toEqual([]);
  });

  it('gives runs, results, calls, usage and the summary', async () => {
    const session = await storage.load('s1');
    expect(session?.runs.map((run) => [run.intent, run.task, run.startSequence, run.finishSequence])).toEqual([
      ['task', 'do it', 1, 10],
      ['task', 'second', 1, 6],
      ['continue', null, 1, 14],
      ['task', 'steered', 1, 11],
    ]);
    expect(session?.runs.every((run) => run.result?.stopReason === 'text_response')).toBe(true);
    expect(session?.entries).toHaveLength(15);
    expect(session?.messages[0]).toMatchObject({
      summary: { content: 'S1', source: 'test', firstKept: 6, historyStart: 2, messageCount: 4 },
    });
    expect(session?.messages[3]).toEqual({
      role: 'assistant',
      content: 'u',
      toolCalls: [
        { id: 'c2', name: 'write', arguments: '{}' },
        { id: 'c3', name: 'write', arguments: '{}' },
      ],
      usage: {
        inputTokens: 9,
        outputTokens: 1,
        totalTokens: 10,
        cacheReadTokens: null,
        cacheWriteTokens: null,
        reasoningTokens: null,
      },
    });
    expect((await storage.listBranches('s1')).map(({ branchId, intent }) => [branchId, intent])).toEqual([
      ['main', null],
      ['exp', 'fork'],
      ['back', 'rollback'],
      ['again', 'retry'],
    ]);
  });

  it('is written again byte by byte', async () => {
    const records = await storage.records('s1');
    expect(records.map((record) => `${recordToLine(record)}\n`).join('')).toBe(recorded.toString('utf8'));
  });

  it('can be added to', async () => {
    await storage.append('s1', 'core', wholeRun('r1', 'ours'), { branchId: 'back' });
    expect((await texts('back'))?.slice(6, 7)).toEqual(['user: ours']);
    expect(folder.read('s1').subarray(0, recorded.length).equals(recorded)).toBe(true);
  });

  it('keeps nothing from its export that its import would need', async () => {
    const session = await storage.load('s1');
    const copy = new JsonlSessionStorage(`${folder.path}/copy`);
    if (session === null) throw new Error('no session');
    await copy.save(session);
    expect(await copy.load('s1')).toMatchObject({
      messages: session.messages,
      runs: session.runs,
      compactions: session.compactions,
      entries: session.entries,
    });
    await copy.close();
  });
});
