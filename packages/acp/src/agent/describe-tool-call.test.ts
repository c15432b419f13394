import { call } from '@parley/harness';
import { askedChange, describeToolCall, kindOf } from './describe-tool-call.js';

describe('kindOf', () => {
  it.each([
    ['read_file', 'read_only', 'read'],
    ['list_files', undefined, 'read'],
    ['search_files', 'read_only', 'search'],
    ['write_file', 'side_effecting', 'edit'],
    ['edit_file', undefined, 'edit'],
    ['deleteFile', undefined, 'delete'],
    ['move-file', undefined, 'move'],
    ['shell', 'side_effecting', 'execute'],
    ['web__fetch', undefined, 'fetch'],
    ['shell__look', undefined, 'other'],
    ['weather', 'read_only', 'read'],
    ['weather', 'side_effecting', 'other'],
    ['subagent', undefined, 'think'],
    ['run_query', 'read_only', 'read'],
  ] as const)('%s (%s): %s', (name, effect, kind) => {
    expect(kindOf(name, effect)).toBe(kind);
  });
});

describe('describeToolCall', () => {
  it.each([
    ['shell', { command: 'npm\n  test' }, 'shell npm test'],
    ['read_file', { path: 'a.ts', offset: 3 }, 'read_file a.ts'],
    ['other', {}, 'other'],
  ])('%s %j is titled %j', (name, args, title) => {
    expect(describeToolCall(call('c', name, args), '/work').title).toBe(title);
  });

  it('tells file and line', () => {
    const { locations } = describeToolCall(call('c', 'read_file', { path: '../a.ts', offset: 3 }), '/work/x');
    expect(locations).toEqual([{ path: '/work/a.ts', line: 3 }]);
  });

  it('shows arguments that are no object as they were written', () => {
    expect(describeToolCall(call('c', 'x', '[1'), '/work')).toMatchObject({
      rawInput: '[1',
      locations: [],
      title: 'x',
    });
  });

  it('cuts a long title without half a character', () => {
    const { title } = describeToolCall(call('c', 'shell', { command: '😀'.repeat(300) }), '/work');
    expect(title.length).toBeLessThan(210);
    expect(title.isWellFormed()).toBe(true);
  });

  it('sees no change where content is not what is written', () => {
    expect(askedChange(call('c', 'read_file', { path: 'a', content: 'x' }))).toBeUndefined();
  });
});
