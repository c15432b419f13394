import { z } from 'zod';
import { defineSkill } from '../define-skill.js';
import { ErrandModel } from './errand-model.js';
import { ErrandTool } from './errand-tool.js';

describe('a model for one skill', () => {
  it('answers in pieces of whole characters, which together are what the skill gave', async () => {
    // Of two halves each; those of one of the texts begin at odd places, and lie across every even one.
    const output = { a: `.${'😀'.repeat(40_000)}`, b: `${'😀'.repeat(40_000)}\n` };
    const skill = defineSkill({
      capability: 'echo',
      detail: {},
      input: z.unknown(),
      run: () => Promise.resolve(output),
    });
    const tool = new ErrandTool(skill);
    tool.answer = { output };
    const messages = [{ role: 'tool' as const, toolCallId: 'errand_1', content: 'cut' }];
    const deltas: string[] = [];
    for await (const event of new ErrandModel(tool).stream({ messages, tools: [] }, new AbortController().signal)) {
      if (event.type === 'text_delta') deltas.push(event.delta);
    }
    expect(deltas.length).toBeGreaterThan(4);
    expect(deltas.every((delta) => delta.isWellFormed())).toBe(true);
    expect(deltas.join('')).toBe(JSON.stringify({ output }));
  });
});
