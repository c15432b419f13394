import type { Message } from '../messages.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import { ContextBuilder, type ContextParts } from './context-builder.js';
import { EXPLICIT_FINISH_TEXT, explicitFinishReminder, TOOL_PROTOCOL_TEXT } from './context-texts.js';

const TOOL: ToolDefinition = { name: 'add', description: 'adds', effect: 'read_only' };
const HISTORY: readonly Message[] = [
  { role: 'user', content: 'go' },
  { role: 'assistant', content: 'done', toolCalls: [] },
];

function parts(given: Partial<ContextParts> = {}): ContextParts {
  return { history: HISTORY, tools: [], skillIndex: null, activeSkill: null, reminder: null, ...given };
}

function texts(messages: readonly Message[]): (string | null)[] {
  return messages.map(({ role, content }) => `${role}: ${content ?? ''}`);
}

describe('ContextBuilder', () => {
  it('puts everything that there is in order, one system message each', () => {
    const builder = new ContextBuilder({ systemPrompt: 'SYS', requireExplicitFinish: true });
    const built = builder.build(
      parts({ tools: [TOOL], skillIndex: 'INDEX', activeSkill: 'SKILL', reminder: 'REMIND' }),
    );
    expect(texts(built)).toEqual([
      'system: SYS',
      `system: ${TOOL_PROTOCOL_TEXT}`,
      `system: ${EXPLICIT_FINISH_TEXT}`,
      'system: INDEX',
      'system: SKILL',
      'user: go',
      'assistant: done',
      'system: REMIND',
    ]);
  });

  it('sends the history alone if there is nothing else', () => {
    expect(new ContextBuilder({ requireExplicitFinish: false }).build(parts())).toEqual(HISTORY);
    expect(new ContextBuilder({ systemPrompt: ' \n', requireExplicitFinish: false }).build(parts())).toEqual(HISTORY);
  });

  it('leaves the tool protocol out without tools, also where an explicit finish is required', () => {
    const builder = new ContextBuilder({ systemPrompt: 'SYS', requireExplicitFinish: true });
    expect(texts(builder.build(parts())).slice(0, 2)).toEqual(['system: SYS', `system: ${EXPLICIT_FINISH_TEXT}`]);
  });

  it('shows a reminder in one request only', () => {
    const builder = new ContextBuilder({ requireExplicitFinish: false });
    expect(builder.build(parts({ reminder: 'REMIND' })).at(-1)?.content).toBe('REMIND');
    expect(builder.build(parts()).at(-1)?.content).toBe('done');
  });

  it('gives the same message objects for the same texts, and the history’s own', () => {
    const builder = new ContextBuilder({ systemPrompt: 'SYS', requireExplicitFinish: true });
    const given = parts({ tools: [TOOL], skillIndex: 'INDEX', activeSkill: 'SKILL', reminder: 'REMIND' });
    const first = builder.build(given);
    const second = builder.build(given);
    expect(second).not.toBe(first);
    expect(second.every((message, index) => message === first[index])).toBe(true);
    expect(first[5]).toBe(HISTORY[0]);
    expect(builder.build({ ...given, activeSkill: 'OTHER' })[4]?.content).toBe('OTHER');
  });

  it('takes a history that would not fit on the stack, and leaves it as it is', () => {
    const history = Array.from({ length: 300_000 }, (): Message => ({ role: 'user', content: 'x' }));
    const built = new ContextBuilder({ systemPrompt: 'SYS', requireExplicitFinish: false }).build(parts({ history }));
    expect(built).toHaveLength(300_001);
    expect(history).toHaveLength(300_000);
  });
});

describe('explicitFinishReminder', () => {
  it('says from the second time on which time it is', () => {
    expect(explicitFinishReminder(1, 3)).not.toMatch(/of at most/u);
    expect(explicitFinishReminder(2, 3)).toMatch(/2 of at most 3/u);
  });
});
