import { parseArguments } from './parse-arguments.js';
import type { RunSettings } from './run-settings.js';
import { UsageError } from './usage-error.js';

const env = { PARLEY_HOME: '/home/me/parley' };

function parse(line: string[], isInteractive = true): RunSettings {
  const parsed = parseArguments(['run', ...line], { env, cwd: '/work', isInteractive, version: '1.2.3' });
  if (parsed.type !== 'run') throw new Error(JSON.stringify(parsed));
  return parsed.settings;
}

function failure(argv: string[]): UsageError {
  try {
    parseArguments(argv, { env, cwd: '/work', isInteractive: true, version: '1.2.3' });
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error(`${argv.join(' ')} was taken`);
}

describe('parseArguments', () => {
  it('has a default for everything', () => {
    expect(parse([])).toEqual({
      agent: {
        isOffline: false,
        model: undefined,
        baseUrl: undefined,
        contextTokens: 128_000,
        cwd: '/work',
        systemPrompt: undefined,
        skillsDir: undefined,
        mcpFile: undefined,
        allowed: new Set(['read']),
        maxSteps: 50,
        maxTokens: undefined,
      },
      session: { type: 'new' },
      sessionsDir: '/home/me/parley/sessions',
      mode: 'interactive',
      task: undefined,
      readsInput: false,
    });
  });

  it('reads every option', () => {
    const line =
      '-m gpt --base-url http://l/v1 --system-prompt hi -C sub --session s-1 --sessions-dir store --max-steps 3';
    const rest = '--max-tokens 900 --context-tokens 8000 --skills sk --mcp m.json -p do it';
    expect(parse(`${line} ${rest}`.split(' '))).toMatchObject({
      agent: {
        model: 'gpt',
        baseUrl: 'http://l/v1',
        contextTokens: 8_000,
        cwd: '/work/sub',
        systemPrompt: 'hi',
        skillsDir: '/work/sk',
        mcpFile: '/work/m.json',
        maxSteps: 3,
        maxTokens: 900,
      },
      session: { type: 'new', id: 's-1' },
      sessionsDir: '/work/store',
      mode: 'print',
      task: 'do it',
    });
  });

  it.each([
    [['--resume'], { type: 'latest' }],
    [['--resume', 'abc'], { type: 'resume', ref: 'abc' }],
    [['--resume', '-p', 'task'], { type: 'latest' }],
    [['--fork', 'abc@fork-1'], { type: 'fork', ref: 'abc@fork-1' }],
  ] as const)('%j goes on with %j', (line, session) => {
    expect(parse([...line]).session).toEqual(session);
  });

  it('takes a task behind --resume for a task', () => {
    expect(parse(['--resume', 'go on with it', 'now'])).toMatchObject({
      session: { type: 'latest' },
      task: 'go on with it now',
    });
  });

  it.each([
    [
      ['--allow', 'write,shell'],
      ['write', 'shell'],
    ],
    [
      ['--allow', 'read', '--allow', 'shell'],
      ['read', 'shell'],
    ],
    [['--allow', 'none'], []],
    [['--yes'], ['all']],
  ])('%j allows %j', (line, allowed) => {
    expect([...parse(line).agent.allowed]).toEqual(allowed);
  });

  it.each([
    [['--json', 'x'], true, 'json'],
    [['x'], false, 'print'],
    [['--sessions'], true, 'list-sessions'],
    [['x'], true, 'interactive'],
  ] as const)('%j on a terminal (%s): %s', (line, isInteractive, mode) => {
    expect(parse([...line], isInteractive).mode).toBe(mode);
  });

  it('reads the standard input for a dash', () => {
    expect(parse(['-p', 'sum', 'up', '-'])).toMatchObject({ task: 'sum up', readsInput: true });
  });

  it.each([
    [['run', '--nonsense'], /unknown option '--nonsense'/u],
    [['run', '--max-steps', 'many'], /whole number/u],
    [['run', '--max-steps', '0'], /whole number/u],
    [['run', '--allow', 'everything'], /read, write, shell, all or none/u],
    [['run', '--offline', '--model', 'x'], /cannot be used/u],
    [['run', '--session', 'a', '--resume', 'b'], /cannot be used/u],
    [['run', '--session', '../a'], /letters/u],
    [['run', '--model'], /argument missing/u],
    [['walk'], /unknown command 'walk'/u],
  ])('%j is refused in one line', (argv, message) => {
    const { message: text } = failure(argv);
    expect(text).toMatch(message);
    expect(text).not.toMatch(/\n|^error:/u);
  });

  it.each([
    [['--help'], /run \[options\]/u],
    [['run', '--help'], /--resume \[id\]/u],
    [[], /Usage: parley/u],
    [['--version'], /^1\.2\.3\n$/u],
  ])('%j shows text', (argv, text) => {
    const parsed = parseArguments(argv, { env, cwd: '/work', isInteractive: true, version: '1.2.3' });
    expect(parsed).toMatchObject({ type: 'text', text: expect.stringMatching(text) });
  });
});
