import { jest } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { call, defineTool, say, toolHandler } from '@parley/harness';
import { FileTools } from '@parley/harness/tools';
import { writeFile } from 'node:fs/promises';
import { type Answer, answering, ClientLab, closeLabs, type LabOptions, newFolder } from './agent-lab.test-helper.js';

// A loaded machine takes its time.
jest.setTimeout(30_000);

afterEach(closeLabs);

/** A lab whose model calls `act` once in each of so many prompts. */
function acting(prompts: number, options: LabOptions) {
  const ran: string[] = [];
  const act = defineTool({ name: 'act', description: 'Acts.', run: (_args, { callId }) => void ran.push(callId) });
  const steps = Array.from({ length: prompts }, (_, at) => [
    say(null, call(`c${at}`, 'act', { a: at })),
    say('ok'),
  ]).flat();
  const lab = new ClientLab({ steps: [steps], asks: true, handlers: () => [toolHandler(act)], ...options });
  return { lab, ran };
}

describe('a call that needs consent', () => {
  it('is shown to the client with four answers', async () => {
    const { lab } = acting(1, { onPermission: answering('allow_once') });
    await lab.prompt(await lab.newSession(), 'go');
    expect(lab.permissions).toMatchObject([
      {
        toolCall: { toolCallId: 'c0', title: 'act', kind: 'other', status: 'pending', rawInput: { a: 0 } },
        options: [{ kind: 'allow_once' }, { kind: 'allow_always' }, { kind: 'reject_once' }, { kind: 'reject_always' }],
      },
    ]);
    expect(lab.updatesOf('tool_call_update').map(({ status }) => status)).toEqual([
      'in_progress',
      'in_progress',
      'completed',
    ]);
  });

  it.each<[Answer, number, number]>([
    ['allow_once', 2, 2],
    ['allow_always', 1, 2],
    ['reject_once', 2, 0],
    ['reject_always', 1, 0],
  ])('%s: asked %i times for two calls, %i of them run', async (answer, asked, runs) => {
    const { lab, ran } = acting(2, { onPermission: answering(answer, answer) });
    const id = await lab.newSession();
    expect(await lab.prompt(id, 'one')).toEqual({ stopReason: 'end_turn' });
    expect(await lab.prompt(id, 'two')).toEqual({ stopReason: 'end_turn' });
    expect(lab.permissions).toHaveLength(asked);
    expect(ran).toHaveLength(runs);
    const last = lab.updatesOf('tool_call_update').at(-1);
    expect(last?.status).toBe(runs > 0 ? 'completed' : 'failed');
  });

  it('remembers for one session only', async () => {
    const { lab } = acting(1, { onPermission: answering('allow_always', 'allow_always') });
    await lab.prompt(await lab.newSession(), 'go');
    await lab.prompt(await lab.newSession(), 'go');
    expect(lab.permissions).toHaveLength(2);
  });

  it('is denied where the client cannot be asked', async () => {
    const { lab, ran } = acting(1, {});
    expect(await lab.prompt(await lab.newSession(), 'go')).toEqual({ stopReason: 'end_turn' });
    expect(ran).toEqual([]);
    expect(lab.updatesOf('tool_call_update').at(-1)).toMatchObject({
      status: 'failed',
      content: [{ content: { text: 'the client cannot be asked for permission' } }],
    });
  });

  it.each([
    ['an option that was not offered', { outcome: { outcome: 'selected', optionId: 'proceed' } }],
    ['no outcome', {}],
    ['an outcome that nobody knows', { outcome: { outcome: 'granted' } }],
  ])('is denied for %s', async (_name, answer) => {
    const { lab, ran } = acting(1, { onPermission: () => Promise.resolve(answer as never) });
    expect(await lab.prompt(await lab.newSession(), 'go')).toEqual({ stopReason: 'end_turn' });
    expect(ran).toEqual([]);
  });

  it('is denied where the client fails', async () => {
    const { lab, ran } = acting(1, { onPermission: () => Promise.reject(new Error('no window')) });
    expect(await lab.prompt(await lab.newSession(), 'go')).toEqual({ stopReason: 'end_turn' });
    expect(ran).toEqual([]);
  });

  it('ends the turn where the client answers that it is cancelled', async () => {
    const { lab, ran } = acting(1, { onPermission: () => Promise.resolve({ outcome: { outcome: 'cancelled' } }) });
    expect(await lab.prompt(await lab.newSession(), 'go')).toEqual({ stopReason: 'cancelled' });
    expect(ran).toEqual([]);
  });

  it('shows the change that a file tool is about to make, before and after', async () => {
    const cwd = await newFolder();
    await writeFile(join(cwd, 'a.txt'), 'old\n');
    const lab = new ClientLab({
      steps: [
        [
          say(null, call('w', 'write_file', { path: 'a.txt', content: 'new\n' })),
          say(null, call('e', 'edit_file', { path: 'a.txt', old_text: 'new', new_text: 'newer' })),
          say(null, call('n', 'write_file', { path: 'b/c.txt', content: 'fresh\n' })),
          say('ok'),
        ],
      ],
      asks: true,
      handlers: () => [new FileTools({ root: cwd })],
      onPermission: answering('allow_once', 'allow_once', 'allow_once'),
    });
    await lab.prompt(await lab.newSession(cwd), 'go');
    const diffs = [
      [{ type: 'diff', path: join(cwd, 'a.txt'), oldText: 'old\n', newText: 'new\n' }],
      [{ type: 'diff', path: join(cwd, 'a.txt'), oldText: 'new', newText: 'newer' }],
      [{ type: 'diff', path: join(cwd, 'b/c.txt'), oldText: null, newText: 'fresh\n' }],
    ];
    expect(lab.permissions.map(({ toolCall }) => toolCall.content)).toEqual(diffs);
    const ends = lab.updatesOf('tool_call_update').filter(({ status }) => status === 'completed');
    expect(ends.map(({ content }) => content)).toEqual(diffs);
    expect(lab.updatesOf('tool_call').map(({ kind }) => kind)).toEqual(['edit', 'edit', 'edit']);
    expect(await readFile(join(cwd, 'a.txt'), 'utf8')).toBe('newer\n');
  });

  it('never shows a file outside of the folder', async () => {
    const cwd = await newFolder();
    const outside = join(await newFolder(), 'secret.txt');
    await writeFile(outside, 'secret');
    const lab = new ClientLab({
      steps: [[say(null, call('w', 'write_file', { path: outside, content: 'x' })), say('ok')]],
      asks: true,
      handlers: () => [new FileTools({ root: cwd })],
      onPermission: answering('allow_once'),
    });
    await lab.prompt(await lab.newSession(cwd), 'go');
    expect(JSON.stringify([lab.permissions, lab.updates])).not.toContain('"secret"');
    expect(lab.permissions[0]?.toolCall.content).toBeUndefined();
  });
});
