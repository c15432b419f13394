import { expectRefusedInOneLine } from '../refused-arguments.test-helper.js';
import { parseArguments } from '../parse-arguments.js';
import type { A2aSettings } from './a2a-settings.js';

const options = { env: {}, cwd: '/work', isInteractive: true, version: '1.2.3' };

function parse<T extends A2aSettings['type']>(type: T, ...argv: string[]): Extract<A2aSettings, { readonly type: T }> {
  const parsed = parseArguments([type, ...argv], options);
  if (parsed.type !== 'a2a' || parsed.settings.type !== type) throw new Error(JSON.stringify(parsed));
  return parsed.settings as Extract<A2aSettings, { readonly type: T }>;
}

describe('the commands that speak with agents', () => {
  it('have a default for everything', () => {
    expect(parse('call', 'localhost:8001', 'do', 'it')).toEqual({
      type: 'call',
      connect: { url: 'http://localhost:8001', binding: undefined, headers: {}, timeoutMs: undefined, isJson: false },
      mode: 'stream',
      message: {
        text: 'do it',
        readsInput: false,
        files: [],
        data: [],
        capability: undefined,
        parameters: {},
        contextId: undefined,
        taskId: undefined,
      },
    });
    expect(parse('tasks', 'http://a')).toMatchObject({ contextId: undefined, state: undefined, limit: 50 });
    expect(parse('task', 'http://a', 't1')).toMatchObject({ taskId: 't1', follows: false });
    expect(parse('cancel', 'http://a', 't1')).toMatchObject({ taskId: 't1' });
    expect(parse('card', 'http://a')).toMatchObject({ connect: { url: 'http://a' } });
  });

  it('read every option of a call', () => {
    const line = '--file a.txt --file /b --data {"n":1} --data [] --capability sum --context c1 --task t1 --no-stream';
    const rest = '--json --binding grpc --timeout 1.5 --header Authorization=Bearer=x --header b= -';
    expect(parse('call', 'https://a/b', ...`${line} ${rest}`.split(' '))).toEqual({
      type: 'call',
      connect: {
        url: 'https://a/b',
        binding: 'grpc',
        headers: { authorization: 'Bearer=x', b: '' },
        timeoutMs: 1_500,
        isJson: true,
      },
      mode: 'poll',
      message: {
        text: undefined,
        readsInput: true,
        files: ['/work/a.txt', '/b'],
        data: [{ n: 1 }, []],
        capability: 'sum',
        parameters: {},
        contextId: 'c1',
        taskId: 't1',
      },
    });
    expect(parse('call', 'http://a', '--detach', 'x').mode).toBe('detach');
    expect(parse('task', 'http://a', 't1', '--follow').follows).toBe(true);
    expect(parse('tasks', 'http://a', '--context', 'c', '--status', 'input-required', '--limit', '7')).toMatchObject({
      contextId: 'c',
      state: 'input_required',
      limit: 7,
    });
  });

  it.each([
    ['n=3', { n: 3 }],
    ['n=-0.5', { n: -0.5 }],
    ['on=true', { on: true }],
    ['s=some text', { s: 'some text' }],
    ['s="3"', { s: '3' }],
    ['s=', { s: '' }],
    ['s=a=b', { s: 'a=b' }],
    ['s=null', { s: 'null' }],
    ['s=[1]', { s: '[1]' }],
    ['s=1e999', { s: '1e999' }],
  ])('take %s for a parameter', (given, parameters) => {
    expect(parse('call', 'http://a', '--param', given, 'x').message.parameters).toEqual(parameters);
  });

  it.each([
    [['call'], /argument.*'url'/u],
    [['call', 'ftp://a', 'x'], /ftp:\/\/a is not the URL of an agent/u],
    [['call', 'http://', 'x'], /not the URL/u],
    [['call', 'http://a', '--data', '{'], /It takes JSON/u],
    [['call', 'http://a', '--param', '=x'], /a name, = and a value/u],
    [['call', 'http://a', '--header', 'a b=x'], /a name, = and a value/u],
    [['call', 'http://a', '--header', 'secret'], /^--header takes a name, = and a value, as a header may have them$/u],
    [['call', 'http://a', '--header', 'a=secret\r\ny'], /^--header takes [^]*have them$/u],
    [['call', 'http://a', '--timeout', '0'], /number of seconds/u],
    [['call', 'http://a', '--timeout', '1e9'], /number of seconds/u],
    [['call', 'http://a', '--binding', 'soap'], /jsonrpc, rest, grpc/u],
    [['call', 'http://a', '--detach', '--no-stream'], /cannot be used/u],
    [['tasks', 'http://a', '--status', 'lost'], /submitted, working/u],
    [['tasks', 'http://a', '--limit', '0'], /whole number/u],
    [['task', 'http://a'], /'id'/u],
    [['cancel', 'http://a', 't1', 'more'], /too many arguments/u],
  ])('%j is refused in one line', (argv, message) => {
    expectRefusedInOneLine(argv, options, message);
  });

  it('are in the help', () => {
    const help = (...argv: string[]): unknown => parseArguments(argv, options);
    expect(help('--help')).toMatchObject({ text: expect.stringMatching(/card .*[^]*call .*[^]*tasks .*[^]*cancel /u) });
    expect(help('call', '--help')).toMatchObject({ text: expect.stringMatching(/Ctrl-C cancels the remote task/u) });
  });
});
