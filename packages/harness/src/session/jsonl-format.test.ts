import { readdirSync, readFileSync, statSync } from 'node:fs';
import { JsonlSessionStorage } from './jsonl-session-storage.js';
import { drafts } from './record-drafts.js';
import { sessionFromJson, sessionToJson } from './session-codec.js';
import type { SessionRecordDraft } from './session-types.js';
import { says, TemporaryFolder, wholeRun } from './sessions.test-helper.js';

const NAME = 'e8bc163c82eee18733288c7d4ac636db3a6deb013ef2d37b68322be20edc45cc.jsonl';

describe('the file of a session', () => {
  let folder: TemporaryFolder;
  let storage: JsonlSessionStorage;
  let ids: number;

  beforeEach(() => {
    ids = 0;
    folder = new TemporaryFolder();
    const newId = () => String((ids += 1)).padStart(32, '0');
    storage = new JsonlSessionStorage(folder.path, { newId });
  });

  afterEach(async () => {
    await storage.close();
    folder.remove();
  });

  it('is named by the hash of the id, has an empty lock beside, and is its owner’s only', async () => {
    const lock = await storage.lockRun('s1');
    await storage.append('s1', 'core', wholeRun('r1'));
    lock.release();
    expect(readdirSync(folder.path).sort()).toEqual([NAME, `${NAME}.lock`]);
    expect(folder.journalPath('s1').endsWith(NAME)).toBe(true);
    expect(statSync(folder.journalPath('s1')).mode & 0o777).toBe(0o600);
    expect(statSync(`${folder.journalPath('s1')}.lock`)).toMatchObject({ size: 0 });
    expect(statSync(`${folder.journalPath('s1')}.lock`).mode & 0o777).toBe(0o600);
  });

  it('holds exactly these bytes after a run with a tool', async () => {
    await storage.append('s1', 'core', wholeRun('r1'));
    const id = (n: number) => String(n).padStart(32, '0');
    const line = (n: number, sequence: number, type: string, data: string) =>
      `{"agent_id":"core","branch_id":"main","data":${data},"journal_schema_version":1,` +
      `"parent_id":${n === 1 ? 'null' : `"${id(n - 1)}"`},"record_id":"${id(n)}","revision":${n},` +
      `"sequence":${sequence},"session_id":"s1","type":"${type}"}\n`;
    const usage =
      '"usage":{"cache_read_tokens":null,"cache_write_tokens":null,"input_tokens":9,"output_tokens":1,' +
      '"reasoning_tokens":null,';
    expect(folder.lines('s1')).toEqual([
      line(1, 1, 'run_started', '{"run_id":"r1","task":"do it"}'),
      line(
        2,
        3,
        'message_appended',
        '{"message":{"content":"look","role":"assistant","tool_calls":[{"function":{"arguments":"{\\"x\\": 1}",' +
          `"name":"write"},"id":"call-r1","type":"function"}],${usage}"total_tokens":10}},"run_id":"r1"}`,
      ),
      line(
        3,
        5,
        'messages_appended',
        '{"messages":[{"content":"written","role":"tool","tool_call_id":"call-r1"}],"run_id":"r1"}',
      ),
      line(
        4,
        8,
        'message_appended',
        `{"message":{"content":"done","role":"assistant",${usage}"total_tokens":10}},"run_id":"r1"}`,
      ),
      line(
        5,
        10,
        'run_finished',
        `{"result":{"error":null,"output":"done","status":"completed","stop_reason":"text_response","turns":2,${usage}` +
          '"reported_request_count":2,"request_count":2,"total_tokens":10}},"run_id":"r1"}',
      ),
    ]);
  });

  const summary = { content: 'S', source: 'm', historyStart: 1, firstKept: 4, messageCount: 3, tokensBefore: 99 };
  const forms: readonly (readonly [string, SessionRecordDraft, string])[] = [
    ['run_continued', drafts.runContinued('r2', 1), '{"run_id":"r2"}'],
    [
      'steering_applied',
      drafts.steering('r1', 4, { inputId: 'i1', kind: 'steering', content: 'hürry' }, 2),
      '{"content":"hürry","input_id":"i1","run_id":"r1","target_turn":2}',
    ],
    [
      'compaction_applied',
      drafts.compaction(2, 'op', summary, [{ role: 'system', content: 'S!', summary }]),
      '{"messages":[{"_ejagent_summary":{"content":"S","first_kept_index":4,"history_start_index":1,"source":"m",' +
        '"summarized_message_count":3,"tokens_before":99},"content":"S!","role":"system"}],"operation_id":"op",' +
        '"summary":{"content":"S","first_kept_index":4,"history_start_index":1,"source":"m",' +
        '"summarized_message_count":3,"tokens_before":99}}',
    ],
    [
      'message_appended',
      drafts.assistant('r1', 3, { role: 'assistant', content: null, toolCalls: [], reasoning: 'why' }),
      '{"message":{"content":null,"reasoning_content":"why","role":"assistant"},"run_id":"r1"}',
    ],
  ];
  it.each(forms)('writes the data of %s in its form', async (type, draft, data) => {
    const before = type === 'run_continued' ? [] : [drafts.runStarted('r1', 1, 't')];
    await storage.append('s1', 'core', [...before, draft]);
    expect(folder.lines('s1').at(-1)).toContain(`"data":${data},"journal_schema_version":1,`);
  });

  it('writes a checkpoint as a document with sorted keys', async () => {
    await storage.append('s1', 'core', wholeRun('r1').slice(0, 2));
    const session = await storage.load('s1');
    if (session === null) throw new Error('no session');
    const document = sessionToJson(session);
    await storage.append('s2', 'core', [drafts.checkpoint({ ...session, sessionId: 's2' })]);
    expect(folder.lines('s2')[0]).toContain(
      '"data":{"document":{"schema_version":1,"session":{"agent_id":"core","compactions":[],"entries":[{"message":{' +
        '"content":"do it","role":"user"},"run_id":"r1","sequence":1},{"message":{',
    );
    expect(folder.lines('s2')[0]).toContain(
      '"runs":[{"finish_sequence":null,"intent":"task","result":null,"run_id":"r1","start_sequence":1,"task":"do it"}],' +
        '"session_id":"s2"}}}',
    );
    expect(sessionFromJson(document)).toEqual({ ...session, revision: 0, headId: null });
  });

  it('writes text as UTF-8, with only the escapes that JSON asks for', async () => {
    await storage.append('s1', 'core', [drafts.runStarted('r1', 1, 'ü\u2028\u0085\n"\\\u0001😀')]);
    expect(folder.lines('s1')[0]).toContain('"task":"ü\u2028\u0085\\n\\"\\\\\\u0001😀"');
    await storage.append('s1', 'core', [drafts.assistant('r1', 2, says('half a pair: \ud83d'))]);
    expect((await storage.load('s1'))?.messages.at(-1)?.content).toBe('half a pair: \ud83d');
  });

  it('reads what another storage has added, without a lock', async () => {
    await storage.append('s1', 'core', wholeRun('r1'));
    const reader = new JsonlSessionStorage(folder.path, { lockWaitMs: 0 });
    expect((await reader.load('s1'))?.messages).toHaveLength(4);
    await storage.append('s1', 'core', wholeRun('r2'));
    expect((await reader.load('s1'))?.messages).toHaveLength(8);
    await reader.close();
  });

  it('writes on after another storage has', async () => {
    const other = new JsonlSessionStorage(folder.path);
    await storage.append('s1', 'core', wholeRun('r1'));
    await other.append('s1', 'core', wholeRun('r2'));
    await storage.append('s1', 'core', wholeRun('r3'));
    await other.append('s1', 'core', wholeRun('r4'));
    const fresh = new JsonlSessionStorage(folder.path);
    expect((await fresh.records('s1')).map(({ revision }) => revision)).toEqual(
      Array.from({ length: 20 }, (_, i) => i + 1),
    );
    await Promise.all([other.close(), fresh.close()]);
  });

  it('does not read the file again to add to it', async () => {
    await storage.append('s1', 'core', [drafts.runStarted('r1', 1, 'x'.repeat(2_000_000))]);
    const readSoFar = () => Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
    const before = readSoFar();
    for (let turn = 0; turn < 50; turn += 1) await storage.append('s1', 'core', [drafts.assistant('r1', 2, says('x'))]);
    expect(readSoFar() - before).toBeLessThan(1_000_000);
  });

  it('closes files beyond its limit and opens them again', async () => {
    const openFiles = () => readdirSync('/proc/self/fd').length;
    const narrow = new JsonlSessionStorage(folder.path, { maxOpenSessions: 2, fsync: false });
    const before = openFiles();
    for (let n = 0; n < 20; n += 1) await narrow.append(`s${n}`, 'core', wholeRun('r1'));
    expect(openFiles() - before).toBeLessThanOrEqual(4);
    await narrow.append('s0', 'core', wholeRun('r2'));
    expect((await narrow.load('s0'))?.messages).toHaveLength(8);
    await narrow.close();
    expect(openFiles()).toBe(before);
  });

  it('lists only journals, also with a first record of many chunks', async () => {
    await storage.append('long', 'core', [drafts.runStarted('r1', 1, 'x'.repeat(100_000))]);
    await storage.append('s1', 'core', wholeRun('r1'));
    folder.write('empty', '');
    folder.write('broken', 'garbage\n');
    const listed = await storage.listSessions();
    expect(listed.map(({ sessionId }) => sessionId).sort()).toEqual(['long', 's1']);
  });
});
