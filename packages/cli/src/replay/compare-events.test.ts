import { isJsonObject, type JsonObject, numberOf, parseExact } from '@parley/proxy-protocol';
import { compareEvents } from './compare-events.js';

const parsing = { isJsonObject, numberOf, parseExact };

function event(attributes: JsonObject, more: JsonObject = {}): JsonObject {
  return {
    name: 'bash',
    start_time: '2026-11-30T07:00:00+00:00',
    end_time: '2026-11-30T07:00:01+00:00',
    status: { status_code: 'OK' },
    attributes,
    ...more,
  };
}

function compare(expected: JsonObject, got: JsonObject, ignoresResult = false): unknown {
  return compareEvents(4, expected, got, parsing, { ignoresResult });
}

describe('compareEvents', () => {
  it('finds no difference in times, ids, digests, order of members, and what only one proxy tells', () => {
    const expected = event(
      {
        'gen_ai.completion': '{"output": "x", "exit_code": 0}',
        'parley.proxy.exit_code': 0,
        'parley.proxy.task.id': 'a',
      },
      { hash: 'a', span_id: 'b' },
    );
    const got = event(
      { 'gen_ai.completion': '{"exit_code":0,"output":"x"}', 'parley.proxy.task.id': 'b', 'gen_ai.agent.name': 'me' },
      { start_time: 'later', hash: 'c' },
    );
    expect(compare(expected, got)).toBeUndefined();
  });

  it.each([
    [event({}), event({}, { name: 'add' }), 'name', 'bash', 'add'],
    [event({}), event({}, { status: { status_code: 'ERROR' } }), 'status.status_code', 'OK', 'ERROR'],
    [
      event({ 'gen_ai.completion': '{"output":"a"}' }),
      event({ 'gen_ai.completion': '{"output":"b"}' }),
      'attributes.gen_ai.completion.output',
      'a',
      'b',
    ],
    [
      event({ 'gen_ai.prompt': '{"input":{"l":[1,2]}}' }),
      event({ 'gen_ai.prompt': '{"input":{"l":[1]}}' }),
      'attributes.gen_ai.prompt.input.l.1',
      2,
      undefined,
    ],
    [event({ 'gen_ai.usage.input_tokens': 3 }), event({}), 'attributes.gen_ai.usage.input_tokens', 3, undefined],
    [
      event({ 'parley.proxy.exit_code': 0 }),
      event({ 'parley.proxy.exit_code': 1 }),
      'attributes.parley.proxy.exit_code',
      0,
      1,
    ],
    [
      event({ 'gen_ai.completion': '{"output":1}' }),
      event({ 'gen_ai.completion': '{"output":true}' }),
      'attributes.gen_ai.completion.output',
      1,
      true,
    ],
  ])('names the member that differs (%#)', (expected, got, member, wanted, given) => {
    expect(compare(expected, got)).toEqual({ index: 4, member, expected: wanted, got: given });
  });

  it('takes 1 and 1.0 for one number, and tells big ones apart digit by digit', () => {
    const of = (text: string): JsonObject => event({ 'gen_ai.completion': `{"output":${text}}` });
    expect(compare(of('1'), of('1.0'))).toBeUndefined();
    expect(compare(of('12345678901234567890'), of('12345678901234567891'))).toMatchObject({ index: 4 });
  });

  it('does not compare how far an action came that was cut off', () => {
    const of = (text: string, code: string): JsonObject =>
      event({ 'gen_ai.prompt': '{"input":{}}', 'gen_ai.completion': text }, { status: { status_code: code } });
    expect(compare(of('{"output":"a"}', 'OK'), of('{"output":"b"}', 'ERROR'), true)).toBeUndefined();
  });
});
