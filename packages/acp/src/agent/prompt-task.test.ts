import { promptTask } from './prompt-task.js';

describe('promptTask', () => {
  it.each<[string, unknown[], string]>([
    ['text as it is', [{ type: 'text', text: ' a\n' }], ' a\n'],
    [
      'texts on lines of their own',
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      'a\nb',
    ],
    [
      'links where they stand',
      [
        { type: 'text', text: 'see ' },
        { type: 'resource_link', name: 'a.ts', uri: 'file:///x/a.ts' },
        { type: 'text', text: ' there' },
      ],
      'see [a.ts](file:///x/a.ts) there',
    ],
    [
      'embedded text at the end',
      [
        { type: 'resource', resource: { uri: 'file:///x/a.ts', text: 'let a;', mimeType: 'text/plain' } },
        { type: 'text', text: ' is wrong' },
      ],
      '[a.ts](file:///x/a.ts) is wrong\n\n<resource uri="file:///x/a.ts">\nlet a;\n</resource>',
    ],
  ])('%s', (_name, blocks, task) => {
    expect(promptTask(blocks)).toBe(task);
  });

  it.each([[[]], [[{ type: 'text', text: ' \n' }]]])('refuses %j: nothing is asked', (blocks) => {
    expect(() => promptTask(blocks)).toThrow('holds no text');
  });
});
