import type { AssistantMessage } from '../messages.js';
import { withUniqueCallIds } from './unique-call-ids.js';

function message(...ids: string[]): AssistantMessage {
  return { role: 'assistant', content: null, toolCalls: ids.map((id) => ({ id, name: 'w', arguments: '{}' })) };
}

function ids(result: AssistantMessage): string[] {
  return result.toolCalls.map((call) => call.id);
}

describe('ids of calls', () => {
  const newIds = () => {
    let count = 0;
    return () => `new${(count += 1)}`;
  };

  it('stay as they are if they are unique', () => {
    const original = message('a', 'b');
    expect(withUniqueCallIds(original, newIds())).toBe(original);
  });

  it('are new for the second of two, for empty ones, and for those of earlier messages', () => {
    const original = message('a', 'a', '', 'old', 'b');
    const result = withUniqueCallIds(original, newIds(), (id) => id === 'old');
    expect(ids(result)).toEqual(['a', 'new1', 'new2', 'new3', 'b']);
    expect(ids(original)).toEqual(['a', 'a', '', 'old', 'b']);
    expect(result.toolCalls[0]).toBe(original.toolCalls[0]);
  });
});
