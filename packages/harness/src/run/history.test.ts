import type { AssistantMessage, Message, ToolMessage } from '../messages.js';
import { call } from '../model/scripted-model.js';
import { History } from './history.js';
import { HistoryError } from './run-errors.js';

const user = (content: string): Message => ({ role: 'user', content });
const calling = (...ids: string[]): AssistantMessage => ({
  role: 'assistant',
  content: null,
  toolCalls: ids.map((id) => call(id, 'tool')),
});
const result = (toolCallId: string): ToolMessage => ({ role: 'tool', toolCallId, content: 'ok' });

describe('a history', () => {
  it('takes calls and their results in source order', () => {
    const history = new History([user('go')]);
    history.append([calling('a', 'b')]);
    history.append([result('a')]);
    expect(history.openCalls.map(({ id }) => id)).toEqual(['b']);
    history.append([result('b')]);
    expect(history.hasOpenCalls).toBe(false);
    expect(history.length).toBe(4);
  });

  it.each<[string, Message[]]>([
    ['a user message before a result', [calling('a'), user('next')]],
    ['an answer before a result', [calling('a'), calling('b')]],
    ['results out of order', [calling('a', 'b'), result('b')]],
    ['a result twice', [calling('a'), result('a'), result('a')]],
    ['a result of nothing', [user('go'), result('x')]],
    ['an id twice in a message', [calling('a', 'a')]],
    ['an id twice in the history', [calling('a'), result('a'), calling('a')]],
    ['an empty id', [calling('')]],
  ])('refuses %s and stays as it is', (_name, messages) => {
    const history = new History([user('before')]);
    expect(() => history.append(messages)).toThrow(HistoryError);
    expect(history.messages).toEqual([user('before')]);
    expect(history.hasOpenCalls).toBe(false);
    expect(() => new History(messages)).toThrow(HistoryError);
  });

  it('refuses to begin with a call that has no result', () => {
    expect(() => new History([calling('a')])).toThrow(/'a' has no result/);
  });

  it('knows the ids of calls that a compaction took away, until it is replaced', () => {
    const history = new History([calling('a'), result('a')]);
    history.shortenTo(new History([user('summary')]));
    expect([history.length, history.hasCallId('a')]).toEqual([1, true]);
    history.become(new History());
    expect([history.length, history.hasCallId('a')]).toEqual([0, false]);
  });

  it('gives the newest user text, and copies that do not change', () => {
    const history = new History([user('one'), user('two'), calling()]);
    const copy = history.snapshot();
    history.append([user('three')]);
    expect(history.newestUserText).toBe('three');
    expect(copy).toHaveLength(3);
    expect(new History().newestUserText).toBe('');
  });
});
