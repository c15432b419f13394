import { ExpectedCalls, expectedCalls, keyOfAction } from './expected-calls.js';
import type { JsonObject, RecordedBlock } from './facts.js';

function use(name: string, input: JsonObject, id: string | null = null): RecordedBlock {
  return { type: 'tool_use', id, name, input };
}

const offered = new Map([
  ['bash', true],
  ['add', false],
]);
const expect1 = (...blocks: RecordedBlock[]) => expectedCalls(blocks, (name) => offered.get(name));
const add = (input: JsonObject) => keyOfAction({ kind: 'tool', server: 'any', name: 'add', arguments: input });
const bash = (command: string, timeoutSeconds = 1) => keyOfAction({ kind: 'bash', command, timeoutSeconds });

describe('ExpectedCalls', () => {
  it('lets each of several equal calls run once, the first first', () => {
    const calls = new ExpectedCalls(expect1(use('add', { a: 1 }, 'one'), use('add', { a: 1 }, 'two')));
    expect([calls.take(add({ a: 1 }))?.callId, calls.take(add({ a: 1.0 }))?.callId]).toEqual(['one', 'two']);
    expect(calls.take(add({ a: 1 }))).toBeUndefined();
    expect(calls.size).toBe(0);
  });

  it('compares commands of the own shell only by their text', () => {
    const calls = new ExpectedCalls(expect1(use('bash', { command: 'ls', note: 'x', timeout: 5 })));
    expect(calls.take(bash('ls '))).toBeUndefined();
    expect(calls.take(bash('ls', 9))).toBeDefined();
  });

  it('drops calls that nobody could run: not offered, or a command that is none', () => {
    expect(
      expect1(use('other', {}), use('bash', { cmd: 'ls' }), use('bash', { command: 5 }), { type: 'text', text: 'x' }),
    ).toEqual([]);
  });

  it("compares a server's tool called bash in full", () => {
    const [call] = expectedCalls([use('bash', { cmd: 'ls' })], () => false);
    expect(call?.key).toBe('{"cmd":"ls"}');
  });

  it('puts back what could not start, in its place', () => {
    const calls = new ExpectedCalls(expect1(use('add', { a: 1 }, 'one'), use('bash', { command: 'ls' }, 'two')));
    const taken = calls.take(add({ a: 1 }));
    expect(calls.names()).toEqual(['bash']);
    if (taken !== undefined) calls.putBack(taken);
    expect(calls.list().map(({ callId }) => callId)).toEqual(['one', 'two']);
    expect(calls.names()).toEqual(['add', 'bash']);
  });
});
