import { readTurnSteps } from './turn-steps.js';

describe('readTurnSteps', () => {
  it('finds commands and tool calls in the order of the text', () => {
    const text = [
      'Please do this:',
      '$ echo one',
      '```bash',
      'echo two',
      'echo three',
      '```',
      '  tool add {"a": 1, "b": {"c": [2]}}',
      'tool look',
      '~~~sh',
      'echo four',
    ].join('\n');
    expect(readTurnSteps(text)).toEqual([
      { kind: 'command', command: 'echo one' },
      { kind: 'command', command: 'echo two\necho three' },
      { kind: 'tool', name: 'add', arguments: '{"a": 1, "b": {"c": [2]}}' },
      { kind: 'tool', name: 'look', arguments: '{}' },
      { kind: 'command', command: 'echo four' },
    ]);
  });

  it.each([
    ['prose', 'tool use is good, $5 is cheap, and this costs $ 3'],
    ['another language', '```python\nprint(1)\n```'],
    ['an empty block', '```bash\n\n```'],
    ['a prompt without a command', '$ '],
    ['nothing', ''],
  ])('finds nothing in %s', (_what, text) => {
    expect(readTurnSteps(text)).toEqual([]);
  });

  it('does not read what stands in a block of another language', () => {
    expect(readTurnSteps('```text\n$ rm -rf x\n```\n$ ls\r\n')).toEqual([{ kind: 'command', command: 'ls' }]);
  });

  it('tells of a tool line whose arguments are no object', () => {
    expect(readTurnSteps('tool add {"a": 1')).toEqual([{ kind: 'unreadable', line: 'tool add {"a": 1' }]);
  });
});
