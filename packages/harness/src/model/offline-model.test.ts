import fc from 'fast-check';
import type { AssistantMessage, Message } from '../messages.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import { collect } from './collect.test-helper.js';
import type { ModelRequest, ModelStreamEvent } from './model-adapter.js';
import { OfflineModel } from './offline-model.js';
import { fileTools, skillTools } from './offline-tools.test-helper.js';

const signal = new AbortController().signal;
const user = (content: string): Message => ({ role: 'user', content });

async function answerTo(request: ModelRequest): Promise<AssistantMessage> {
  const events = await collect(new OfflineModel().stream(request, signal));
  const last = events.at(-1);
  if (last?.type !== 'completed') throw new Error('the stream did not complete');
  return last.response.message;
}

/** Runs a request as an agent does, and gives the calls of each turn with the answer. */
async function run(
  texts: string | readonly Message[],
  tools: readonly ToolDefinition[],
  results: (name: string, args: string) => string = (name) => `result of ${name}`,
  maxTurns = 40,
): Promise<{ readonly turns: readonly (readonly string[])[]; readonly answer: string }> {
  const messages: Message[] = typeof texts === 'string' ? [user(texts)] : [...texts];
  const turns: string[][] = [];
  for (let turn = 0; turn < maxTurns; turn++) {
    const message = await answerTo({ messages: [...messages], tools });
    if (message.toolCalls.length === 0) return { turns, answer: message.content ?? '' };
    messages.push(message);
    turns.push(message.toolCalls.map((call) => `${call.name} ${call.arguments}`));
    for (const call of message.toolCalls) {
      messages.push({ role: 'tool', toolCallId: call.id, content: results(call.name, call.arguments) });
    }
  }
  throw new Error('the request does not end');
}

async function callsFor(text: string, tools: readonly ToolDefinition[]): Promise<readonly string[]> {
  return (await run(text, tools)).turns.flat();
}

describe('OfflineModel', () => {
  it('says that it is none', () => {
    expect(new OfflineModel()).toMatchObject({ name: 'offline', offline: true });
  });

  describe('asked exactly', () => {
    const read = { tool: 'read_file', arguments: { path: 'a' } };
    const list = { tool: 'list_files' };
    const write = { tool: 'write_file', arguments: { path: 'b', content: 'x' } };

    it.each([
      ['alone', JSON.stringify(read)],
      ['in a fenced block', `\`\`\`json\n${JSON.stringify(read, null, 2)}\n\`\`\``],
      ['in a fenced block after a line', `Please do this:\n\n\`\`\`\n${JSON.stringify(read)}\n\`\`\`\n`],
    ])('makes that call, %s', async (_where, text) => {
      const { turns, answer } = await run(text, fileTools, () => 'the content');
      expect(turns).toEqual([['read_file {"path":"a"}']]);
      expect(answer).toContain('the content');
    });

    it('makes read-only calls together and others one by one, in order', async () => {
      const { turns } = await run(
        JSON.stringify([read, list, write, { ...write, arguments: { path: 'c' } }, { ...read, arguments: {} }]),
        fileTools,
      );
      expect(turns).toEqual([
        ['read_file {"path":"a"}', 'list_files {}'],
        ['write_file {"path":"b","content":"x"}'],
        ['write_file {"path":"c"}'],
        ['read_file {}'],
      ]);
    });

    it('calls nothing that is not offered, and says so', async () => {
      const { turns, answer } = await run(JSON.stringify([{ tool: 'rm' }, list]), fileTools);
      expect(turns).toEqual([['list_files {}']]);
      expect(answer).toContain('There is no tool named `rm`');
    });

    it.each(['{"tool": 5}', '[]', '{"tool":"read_file","arguments":[]}', '{"tool":"read_file"'])(
      'takes %s for words',
      async (text) => {
        expect((await run(text, fileTools)).turns).toEqual([]);
      },
    );
  });

  describe('asked in words', () => {
    it.each([
      ['Read notes.txt', ['read_file {"path":"notes.txt"}']],
      ['Please show me the file src/app.ts, limit 20.', ['read_file {"path":"src/app.ts","limit":20}']],
      ['list the files', ['list_files {}']],
      ['List the files in src/lib', ['list_files {"path":"src/lib"}']],
      ['List files in the docs folder', ['list_files {"path":"docs"}']],
      ['Search for TODO in src/', ['search_files {"pattern":"TODO","path":"src/"}']],
      ['find "two words" in notes.txt', ['search_files {"pattern":"two words","path":"notes.txt"}']],
      ['Search for TODO, case sensitive', ['search_files {"pattern":"TODO","case_sensitive":true}']],
      ['Write "hello there" to out.txt', ['write_file {"path":"out.txt","content":"hello there"}']],
      [
        'Save this to "out.txt":\n```\nline one\nline two\n```',
        ['write_file {"path":"out.txt","content":"line one\\nline two"}'],
      ],
      ['Run `npm test -- --watch=false`', ['shell {"command":"npm test -- --watch=false"}']],
      ['run the command ls -la', ['shell {"command":"ls -la"}']],
    ])('%j calls %j', async (words, calls) => {
      expect(await callsFor(words, fileTools)).toEqual(calls);
    });

    it.each([
      ['Translate "good morning" to French', ['translate {"text":"good morning","target_language":"French"}']],
      ['translate cats and dogs into German', ['translate {"text":"cats and dogs","target_language":"German"}']],
      ['Summarize "A long story." in 2 sentences', ['summarize {"text":"A long story.","sentences":2}']],
      ['Give me a summary of the following: ships sail on the sea', ['summarize {"text":"ships sail on the sea"}']],
      ['Review this python code:\n```python\nprint(1)\n```', ['code_review {"code":"print(1)","language":"python"}']],
      ['add 2 and 3.5', ['add {"a":2,"b":3.5}']],
    ])('%j calls %j', async (words, calls) => {
      expect(await callsFor(words, skillTools)).toEqual(calls);
    });

    it.each([
      'Read a.txt, then write "x" to b.txt',
      'Read a.txt and write "x" to b.txt.',
      'First read a.txt. Then write "x" to b.txt!',
      '1. read a.txt\n2. write "x" to b.txt',
      '- read a.txt\n- and then write "x" to b.txt',
    ])('does two steps for %j', async (words) => {
      const { turns, answer } = await run(words, fileTools, (name) =>
        name === 'read_file' ? 'content of a' : 'written',
      );
      expect(turns).toEqual([['read_file {"path":"a.txt"}'], ['write_file {"path":"b.txt","content":"x"}']]);
      expect(answer).toContain('`read_file` gave:\ncontent of a');
      expect(answer).toContain('`write_file` gave:\nwritten');
      expect(answer).toContain('No language model is configured');
      expect(answer).toContain('offline model');
    });

    it('hands the result of one step to the next that points at it', async () => {
      const { turns } = await run(
        'Read a.txt and then translate it to French',
        [...fileTools, ...skillTools],
        () => 'bonjour?',
      );
      expect(turns).toEqual([
        ['read_file {"path":"a.txt"}'],
        ['translate {"text":"bonjour?","target_language":"French"}'],
      ]);
    });

    it('waits with later steps for a result that one before them needs', async () => {
      const { turns } = await run('Read a.txt, then translate it to French, then list the files', [
        ...fileTools,
        ...skillTools,
      ]);
      expect(turns).toEqual([
        ['read_file {"path":"a.txt"}'],
        ['translate {"text":"result of read_file","target_language":"French"}', 'list_files {}'],
      ]);
    });

    it('asks for what the text does not say instead of guessing it', async () => {
      const { turns, answer } = await run('Write something to out.txt. Read the file.', fileTools);
      expect(turns).toEqual([]);
      expect(answer).toContain('`write_file` was not called: the request does not say `content`');
      expect(answer).toContain('`read_file` was not called: the request does not say `path`');
    });

    it.each(['Hello, how are you today?', 'What is the meaning of life?', '', '42'])(
      'calls nothing for %j',
      async (words) => {
        const { turns, answer } = await run(words, fileTools);
        expect(turns).toEqual([]);
        expect(answer).toContain('No language model is configured');
        expect(answer).toContain('`read_file`, `write_file`');
      },
    );

    it('says that nothing is on offer', async () => {
      expect((await run('Read notes.txt', [])).answer).toContain('No tools are on offer');
    });
  });

  it('tells a failure and does not try it again', async () => {
    const { turns, answer } = await run(
      'Read a.txt. Read a.txt.',
      fileTools,
      () => '{"status":"error","tool":"read_file","error":"no such file"}',
    );
    expect(turns).toEqual([['read_file {"path":"a.txt"}']]);
    expect(answer).toContain('`read_file` failed: no such file');
  });

  it('does not hand a failure to the next step', async () => {
    const { turns, answer } = await run(
      'Read a.txt, then write it to b.txt',
      fileTools,
      () => '{"status":"error","error":"no such file"}',
    );
    expect(turns).toEqual([['read_file {"path":"a.txt"}']]);
    expect(answer).toContain('`write_file` was not called: the request does not say `content`');
  });

  it('tells a refusal and a call without result', async () => {
    const call = { id: 'x', name: 'shell', arguments: '{"command":"ls"}' };
    const { answer } = await run(
      [user('run `ls`. run `pwd`'), { role: 'assistant', content: null, toolCalls: [call] }],
      fileTools,
      () => '{"status":"rejected","tool":"shell","reason":"operator denied"}',
    );
    expect(answer).toContain('`shell` gave no result');
    expect(answer).toContain('`shell` failed: operator denied');
  });

  it('plans a text that comes while it works', async () => {
    const first = await answerTo({ messages: [user('read a.txt')], tools: fileTools });
    const messages: Message[] = [
      user('read a.txt'),
      first,
      { role: 'tool', toolCallId: first.toolCalls[0]?.id ?? '', content: 'A' },
      user('and read b.txt'),
    ];
    const { turns, answer } = await run(messages, fileTools, () => 'B');
    expect(turns).toEqual([['read_file {"path":"b.txt"}']]);
    expect(answer).toMatch(/gave:\nA[\s\S]*gave:\nB/u);
  });

  it('does a request again that was answered before', async () => {
    const before = await run('read a.txt', fileTools);
    expect(before.turns).toHaveLength(1);
    const messages: Message[] = [
      user('read a.txt'),
      { role: 'assistant', content: before.answer, toolCalls: [] },
      user('read a.txt'),
    ];
    expect((await run(messages, fileTools)).turns).toEqual([['read_file {"path":"a.txt"}']]);
  });

  it('gives ids that the history does not have', async () => {
    const messages: Message[] = [
      { role: 'assistant', content: null, toolCalls: [{ id: 'offline_3', name: 'x', arguments: '{}' }] },
      { role: 'tool', toolCallId: 'offline_3', content: '' },
      user('[{"tool":"list_files"},{"tool":"read_file"}]'),
    ];
    const { toolCalls } = await answerTo({ messages, tools: fileTools });
    expect(toolCalls.map(({ id }) => id)).toEqual(['offline_4', 'offline_5']);
  });

  it('quotes no more of a result than a reader wants', async () => {
    const { answer } = await run('read a.txt', fileTools, () => 'x'.repeat(100_000));
    expect(answer.length).toBeLessThan(2_000);
    expect(answer).toContain('98800 more characters');
  });

  it('shows its answer in a few pieces and reports estimated tokens', async () => {
    const events = await collect(new OfflineModel().stream({ messages: [user('hello 🎈')], tools: [] }, signal));
    const deltas = events.flatMap((event: ModelStreamEvent) => (event.type === 'text_delta' ? [event.delta] : []));
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.length).toBeLessThanOrEqual(5);
    const last = events.at(-1);
    if (last?.type !== 'completed') throw new Error('the stream did not complete');
    const { message, usage, finishReason } = last.response;
    expect(message.content).toBe(deltas.join(''));
    expect(finishReason).toBe('stop');
    const outputTokens = Math.ceil(deltas.join('').length / 4);
    expect(usage).toMatchObject({ inputTokens: 2, outputTokens, totalTokens: 2 + outputTokens });
  });

  it('stops when it is aborted', async () => {
    const controller = new AbortController();
    const events = new OfflineModel().stream({ messages: [user('hi')], tools: [] }, controller.signal);
    await events.next();
    controller.abort(new Error('enough'));
    await expect(events.next()).rejects.toThrow('enough');
    await expect(new OfflineModel().stream({ messages: [], tools: [] }, controller.signal).next()).rejects.toThrow(
      'enough',
    );
  });

  describe('asked for a summary', () => {
    const system: Message = { role: 'system', content: 'Summarise the conversation.' };

    it('extracts what was said', async () => {
      const { content } = await answerTo({ messages: [system, user('user: build it\nassistant: done')], tools: [] });
      expect(content).toBe('user: build it\nassistant: done');
    });

    it('keeps the beginning and the end of much', async () => {
      const lines = Array.from({ length: 500 }, (_none, index) => `${index} ${'x'.repeat(900)}`);
      const { content } = await answerTo({ messages: [system, user(lines.join('\n'))], tools: [] });
      expect(content).toMatch(/^0 x/u);
      expect(content).toContain('460 lines left out');
      expect(content?.split('\n').at(-1)).toMatch(/^499 x/u);
      expect(content?.length).toBeLessThan(10_000);
    });

    it('does its work if it has tools', async () => {
      const { toolCalls } = await answerTo({ messages: [system, user('read a.txt')], tools: fileTools });
      expect(toolCalls).toHaveLength(1);
    });
  });

  it('answers the same every time', async () => {
    const words = 'Read a.txt, then search for "x y" in src/ and list the files';
    expect(await run(words, fileTools)).toEqual(await run(words, fileTools));
  });

  it('ends every request within a bound of turns', async () => {
    const word = fc.constantFrom(
      'read',
      'write',
      'then',
      'and',
      'it',
      '"x',
      '`',
      "'a'",
      'a.txt',
      '5',
      '.',
      '\n1. ',
      'search',
      'for',
      'run',
      '{',
      '```\n',
      'to',
      'translate',
    );
    const words = fc.oneof(
      fc.string(),
      fc.array(word, { maxLength: 60 }).map((all) => all.join(' ')),
    );
    const schema = fc.oneof(
      fc.constant({}),
      fc.record({ type: fc.constantFrom('object', 5, null), properties: fc.anything(), required: fc.anything() }),
    );
    const anyTool = fc.record({
      name: fc.constantFrom('read', 'write', 'run_it', 'toString', '__proto__'),
      description: fc.oneof(fc.string(), fc.constant('Reads, writes and runs for it.')),
      parameters: schema as fc.Arbitrary<never>,
      effect: fc.constantFrom('read_only' as const, 'side_effecting' as const),
    });
    const tools = fc.oneof(fc.constant([...fileTools, ...skillTools]), fc.array(anyTool, { maxLength: 5 }));
    const result = fc.oneof(fc.string(), fc.constant('{"status":"error"}'));
    await fc.assert(
      fc.asyncProperty(
        fc.array(words, { minLength: 1, maxLength: 4 }),
        tools,
        result,
        async (texts, offered, given) => {
          const { turns, answer } = await run(texts.map(user), offered, () => given, 33);
          expect(answer).toContain('No language model is configured');
          const calls = turns.flat();
          expect(new Set(calls).size).toBe(calls.length);
          expect(calls.length).toBeLessThanOrEqual(32);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('plans a hostile text in reasonable time', async () => {
    const texts = [
      ' '.repeat(400_000),
      '"'.repeat(200_001),
      '“'.repeat(400_000),
      "'a ".repeat(100_000),
      '```\n'.repeat(50_001),
      'and '.repeat(50_000),
      'read a.txt and '.repeat(20_000),
      'a.'.repeat(100_000),
      '`\n'.repeat(100_000),
      '1. '.repeat(100_000),
      '{'.repeat(100_000),
    ];
    for (const text of texts) {
      const started = process.cpuUsage();
      await answerTo({ messages: [user(text)], tools: [...fileTools, ...skillTools] });
      expect(process.cpuUsage(started).user).toBeLessThan(1_500_000);
    }
  });
});
