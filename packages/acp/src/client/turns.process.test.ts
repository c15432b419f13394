import { jest } from '@jest/globals';
import { allUpdates, firstText, type MockAgents, request } from '../testing/mock-agents.js';
import { mocksOfEachTest } from '../testing/mocks-of-each-test.js';

// Each of them starts programs, on a machine that may have others to do.
jest.setTimeout(30_000);

const END = { answer: 'end_turn' };
const HI = { text: 'hi' };

describe('a turn of a child', () => {
  let agents: MockAgents;
  mocksOfEachTest((made) => (agents = made));

  it('is told as updates, in order, and only its answer is the output', async () => {
    const run = await agents.start({
      prompts: [
        [
          { thought: 'hm' },
          { text: 'I look. ', messageId: 'm1' },
          { tool: 'c1', title: 'Read a file' },
          { toolUpdate: 'c1', status: 'in_progress' },
          { toolUpdate: 'c1', status: 'completed' },
          { tool: 'c2', title: 'Write a file' },
          { toolUpdate: 'c2', status: 'failed' },
          { text: 'Done.', messageId: 'm2' },
          END,
        ],
      ],
    });
    expect(await allUpdates(run)).toEqual([
      { kind: 'thought', text: 'hm' },
      { kind: 'text', text: 'I look. ' },
      { kind: 'tool_started', callId: 'c1', tool: 'Read a file' },
      { kind: 'tool_completed', callId: 'c1', tool: 'Read a file', failed: false },
      { kind: 'tool_started', callId: 'c2', tool: 'Write a file' },
      { kind: 'tool_completed', callId: 'c2', tool: 'Write a file', failed: true },
      { kind: 'text', text: 'Done.' },
    ]);
    expect(await run.result).toEqual({ stopReason: 'completed', output: 'Done.' });
    await run.dispose();
  });

  it('gets messages apart by their ids, also when they come interleaved', async () => {
    const run = await agents.start({
      prompts: [
        [
          { text: 'One', messageId: 'm1' },
          { text: 'Two', messageId: 'm2' },
          { text: ' and a half', messageId: 'm1' },
          { text: ' and more', messageId: 'm2' },
          END,
        ],
      ],
    });
    expect((await run.result).output).toBe('Two and more');
    await run.dispose();
  });

  it('gets its prompt, its folder, its servers and what is told beside as they were given', async () => {
    const server = { name: 'tools', command: '/usr/bin/tools', args: ['--all'], env: [] };
    const provider = agents.provider(
      { prompts: [[HI, END]] },
      { mcpServers: [server], meta: () => ({ 'parley.dev/turn': 3 }) },
    );
    const link = { type: 'resource_link', uri: 'file:///tmp/a.txt', name: 'a.txt' } as const;
    const text = { type: 'text', text: 'Zürich, 日本, 👩‍🚀\n"quoted" \\ \u2028 end' } as const;
    const run = await provider.start({ ...request(), prompt: [text, link] });
    await run.result;
    await run.dispose();
    const said = agents.journal().flatMap(({ message }) => (message === undefined ? [] : [message]));
    expect(said.find(({ method }) => method === 'session/new')?.params).toMatchObject({
      cwd: agents.folder,
      mcpServers: [server],
    });
    expect(said.find(({ method }) => method === 'session/prompt')?.params).toMatchObject({
      prompt: [text, link],
      _meta: { 'parley.dev/turn': 3 },
    });
  });

  it('happens in the folder that was given', async () => {
    const run = await agents.start({ prompts: [[{ say: 'cwd' }, END]] });
    expect((await run.result).output).toBe(JSON.stringify(agents.folder));
    await run.dispose();
  });

  it('may have a prompt of many megabytes', async () => {
    const text = 'x'.repeat(5_000_000);
    const run = await agents.provider({ prompts: [[HI, END]] }).start(request(undefined, text));
    expect((await run.result).stopReason).toBe('completed');
    await run.dispose();
    const prompt = agents.journal().find(({ message }) => message?.method === 'session/prompt')?.message;
    expect(JSON.stringify(prompt?.params)).toContain(text);
  });

  it('is read on while somebody decides about a permission', async () => {
    const decided = Promise.withResolvers<'reject'>();
    const script = {
      prompts: [[{ aside: [{ ask: ['allow_once', 'reject_once'] }] }, { wait: 50 }, HI, { wait: 50 }, END]],
    };
    const run = await agents.start(script, { permission: () => decided.promise });
    await firstText(run);
    decided.resolve('reject');
    expect(await run.result).toMatchObject({ stopReason: 'completed', output: 'hi' });
    await run.dispose();
  });

  it('is not held up by what the child writes to its standard error', async () => {
    const flood = { repeat: 100, steps: [{ stderr: `${'x'.repeat(50_000)}\n` }] };
    const run = await agents.start({ prompts: [[flood, HI, END]] });
    expect((await run.result).stopReason).toBe('completed');
    await run.dispose();
  });

  it('that the child ends by dying tells the last of its errors, bounded and without what it was given', async () => {
    const secret = 'given-secret-4711';
    const flood = { repeat: 100, steps: [{ stderr: `${'x'.repeat(1_000)}\n` }] };
    const dies = [HI, flood, { stderr: `cannot log in with ${secret}\nfatal: no luck\n` }, { exit: 7 }];
    const run = await agents.start({ prompts: [dies] }, { env: { SERVICE_PASSWORD: secret } });
    const { stopReason, diagnostic = '' } = await run.result;
    expect(stopReason).toBe('error');
    expect(diagnostic).toContain('7');
    expect(diagnostic).toContain('fatal: no luck');
    expect(diagnostic).not.toContain(secret);
    expect(Buffer.byteLength(diagnostic)).toBeLessThanOrEqual(4_096);
    await run.dispose();
  });

  it('fails as soon as the child is gone, not only when a deadline is over', async () => {
    const run = await agents.start({ prompts: [[HI, { kill: 'SIGKILL' }]] });
    const begun = performance.now();
    expect(await run.result).toMatchObject({ stopReason: 'error', output: 'hi' });
    expect(performance.now() - begun).toBeLessThan(5_000);
    await run.dispose();
  });

  it('does not start with a child that reads no more of its input', async () => {
    const script = { newSession: [{ deaf: true }, { result: {} }], stays: true };
    const provider = agents.provider(script, { deadlines: { newSessionMs: 500, closeMs: 100, termMs: 500 } });
    await expect(provider.start(request(undefined, 'x'.repeat(5_000_000)))).rejects.toThrow(/session\/prompt/u);
    expect(agents.live()).toEqual([]);
    expect(agents.methods()).not.toContain('session/prompt');
  });

  it('ends when the child asks and asks, and reads no answer', async () => {
    const flood = {
      repeat: 5_000,
      steps: [{ aside: [{ request: 'weather/ask', params: { text: 'x'.repeat(500) } }] }],
    };
    const script = { prompts: [[HI, { deaf: true }, flood, { never: true }]], stays: true };
    const run = await agents.start(script, { deadlines: { closeMs: 100, termMs: 500 } });
    expect((await run.result).stopReason).toBe('error');
    expect(agents.live()).toEqual([]);
    await run.dispose();
  });

  it('tells that its output was cut', async () => {
    const run = await agents.start({ prompts: [[{ text: '日本'.repeat(1_000) }, END]] }, { maxOutputBytes: 100 });
    const { output, diagnostic } = await run.result;
    expect(output).toBe('日本'.repeat(17).slice(0, 33));
    expect(diagnostic).toMatch(/100 bytes/u);
    await run.dispose();
  });

  it('may be followed by a second one at the same time in a child of its own', async () => {
    const provider = agents.provider({ prompts: [[{ say: 'pid' }, { wait: 50 }, END]] });
    const runs = await Promise.all([provider.start(request()), provider.start(request())]);
    const outputs = await Promise.all(runs.map(async ({ result }) => (await result).output));
    expect(outputs[0]).not.toBe(outputs[1]);
    await Promise.all(runs.map((run) => run.dispose()));
  });
});
