import { expectRefusedInOneLine } from './refused-arguments.test-helper.js';
import { parseArguments } from './parse-arguments.js';

const options = { env: { PARLEY_HOME: '/home/me/.parley' }, cwd: '/work', isInteractive: true, version: '1.2.3' };

function parse(...argv: string[]): unknown {
  const parsed = parseArguments(argv, options);
  if (parsed.type !== 'proxy') throw new Error(JSON.stringify(parsed));
  return parsed.settings;
}

describe('the commands about proxies', () => {
  it('drive has a default for everything but the proxy', () => {
    expect(parse('drive', '--proxy', 'localhost:8003/')).toEqual({
      type: 'drive',
      target: {
        type: 'proxy',
        url: 'http://localhost:8003',
        tokenFile: undefined,
        stateDir: '/home/me/.parley/proxies',
      },
      model: { isOffline: false, model: undefined, baseUrl: undefined, contextTokens: 128_000 },
      maxTurns: undefined,
      concurrency: 4,
      maxSteps: 50,
      isJson: false,
    });
  });

  it('drive reads every option', () => {
    const line =
      '--proxy https://p/x --token-file t --max-turns 3 --concurrency 2 -m gpt --base-url http://m --max-steps 7';
    expect(parse('drive', ...`${line} --context-tokens 9000 --json`.split(' '))).toMatchObject({
      target: { url: 'https://p/x', tokenFile: '/work/t' },
      model: { model: 'gpt', baseUrl: 'http://m', contextTokens: 9000 },
      maxTurns: 3,
      concurrency: 2,
      maxSteps: 7,
      isJson: true,
    });
    expect(parse('drive', '--proxy', 'http://p', '--once')).toMatchObject({ maxTurns: 1 });
  });

  it('drive takes a registry in place of a proxy', () => {
    expect(parse('drive', '--registry', 'localhost:8000/')).toMatchObject({
      target: { type: 'registry', url: 'http://localhost:8000', capability: 'playable' },
    });
    expect(
      parse('drive', '--registry', 'http://a:1/x/, b:2', '--capability', 'play:it@^1.2 || 3', '--once'),
    ).toMatchObject({
      target: { url: 'http://a:1/x,http://b:2', capability: 'play:it@^1.2 || 3' },
      maxTurns: 1,
    });
  });

  it('send takes a text, and what comes on the standard input', () => {
    expect(parse('send', '--proxy', 'http://p', 'do', 'it', '-', '--context', 'c', '--timeout', '1.5')).toEqual({
      type: 'send',
      proxyUrl: 'http://p',
      text: 'do it',
      readsInput: true,
      contextId: 'c',
      detaches: false,
      timeoutMs: 1_500,
      isJson: false,
    });
  });

  it('trajectory reads a file, a turn or a context', () => {
    expect(parse('trajectory', 'show', 'a.json')).toEqual({
      type: 'trajectory-show',
      source: { type: 'file', path: '/work/a.json' },
      follows: false,
    });
    expect(parse('trajectory', 'show', '--proxy', 'p:1', '--task', 't', '--follow')).toMatchObject({
      source: { type: 'proxy', url: 'http://p:1', of: { taskId: 't' } },
      follows: true,
    });
    expect(parse('trajectory', 'verify', '-')).toMatchObject({ type: 'trajectory-verify', source: { path: '-' } });
    expect(parse('trajectory', 'export', '--proxy', 'p:1', '--context', 'c', '--format', 'atif')).toMatchObject({
      source: { of: { contextId: 'c' } },
      format: 'atif',
    });
    expect(parse('trajectory', 'export', 'a')).toMatchObject({ format: 'json' });
  });

  it('replay takes servers by their names', () => {
    const argv = ['replay', 'a.json', '--proxy', 'http://p', '--env', 'e=http://x/mcp?a=b', '--env', 'f=http://y'];
    expect(parse(...argv)).toMatchObject({
      type: 'replay',
      file: '/work/a.json',
      servers: { e: 'http://x/mcp?a=b', f: 'http://y' },
    });
  });

  it.each([
    [['drive'], /^a proxy is needed: --proxy URL, or --registry URL to find one$/u],
    [['drive', '--proxy', 'http://p', '--registry', 'http://r'], /cannot be used/u],
    [['drive', '--registry', 'http://r', '--token-file', 't'], /cannot be used/u],
    [['drive', '--proxy', 'http://p', '--capability', 'c'], /cannot be used/u],
    [['drive', '--capability', 'c'], /--registry/u],
    [['drive', '--registry', 'http://r', '--capability', 'a b'], /^--capability takes a name, or name@range$/u],
    [['drive', '--registry', ''], /^--registry takes the URL of a registry/u],
    [['drive', '--registry', 'http://r,grpc://r'], /^--registry takes several doors of one kind/u],
    [['drive', '--registry', 'ftp://r'], /^--registry takes the URL of a registry/u],
    [['drive', '--registry', 'http://r,http://me:secret@r'], /^--registry takes [^@]* without a user$/u],
    [['drive', '--registry', 'grpc://:secret@r:1'], /^--registry takes [^@]* without a user$/u],
    [['drive', '--registry', 'http://r?token=secret'], /^--registry takes [^?]*$/u],
    [['drive', '--proxy', 'ftp://p'], /--proxy takes the URL of a proxy/u],
    [['drive', '--proxy', 'http://me:secret@p'], /^--proxy takes the URL of a proxy: http or https, without a user$/u],
    [['drive', '--proxy', 'http://p', '--once', '--max-turns', '2'], /cannot be used/u],
    [['drive', '--proxy', 'http://p', '--offline', '--model', 'x'], /cannot be used/u],
    [['drive', '--proxy', 'http://p', '--concurrency', '0'], /whole number/u],
    [['drive', '--proxy', 'http://p', 'more'], /too many arguments/u],
    [['send', 'x'], /--proxy/u],
    [['trajectory', 'show'], /a file is needed/u],
    [['trajectory', 'show', '--proxy', 'http://p'], /--task or --context/u],
    [['trajectory', 'show', 'a', '--proxy', 'http://p'], /not from both/u],
    [['trajectory', 'show', 'a', '--follow'], /--follow needs --proxy/u],
    [['trajectory', 'export', 'a', '--format', 'pdf'], /otlp, atif, json/u],
    [['trajectory', 'nonsense'], /unknown command/u],
    [['replay', '--proxy', 'http://p'], /'file'/u],
    [['replay', 'a', '--proxy', 'http://p', '--env', 'secret'], /^--env takes a name, = and a URL$/u],
  ])('%j is refused in one line', (argv, message) => {
    expectRefusedInOneLine(argv, options, message);
  });

  it('are in the help', () => {
    const help = (...argv: string[]): unknown => parseArguments(argv, options);
    expect(help('--help')).toMatchObject({
      text: expect.stringMatching(/drive .*[^]*send .*[^]*trajectory .*[^]*replay /u),
    });
    expect(help('drive', '--help')).toMatchObject({ text: expect.stringMatching(/Ctrl-C takes no more turns/u) });
    expect(help('drive', '--help')).toMatchObject({ text: expect.stringMatching(/--registry <url>[^]*--capability/u) });
    expect(help('trajectory')).toMatchObject({ text: expect.stringMatching(/show .*[^]*verify .*[^]*export /u) });
    expect(help('trajectory', 'show', '--help')).toMatchObject({ text: expect.stringMatching(/--follow/u) });
  });
});
