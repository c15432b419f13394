import { parseArguments } from '../parse-arguments.js';
import { permissionsOf, sessionModes } from './session-modes.js';
import { isAllowed } from '../agent/approvals.js';

const options = { env: { PARLEY_HOME: '/home/p' }, cwd: '/here', isInteractive: false, version: '1.0.0' };

function parse(...args: string[]) {
  const parsed = parseArguments(['acp', ...args], options);
  if (parsed.type !== 'acp') throw new Error('not acp');
  return parsed.settings;
}

describe('parley acp', () => {
  it('has the settings of an agent, with the same defaults as run', () => {
    expect(parse()).toEqual({
      agent: {
        isOffline: false,
        model: undefined,
        baseUrl: undefined,
        contextTokens: 128_000,
        cwd: '/here',
        systemPrompt: undefined,
        skillsDir: undefined,
        mcpFile: undefined,
        allowed: new Set(['read']),
        maxSteps: 50,
        maxTokens: undefined,
      },
      sessionsDir: '/home/p/sessions',
      maxSessions: 100,
    });
  });

  it('takes what is given, with paths from --cwd', () => {
    const given = parse(
      '--offline',
      '-C',
      '/there',
      '--mcp',
      'm.json',
      '--sessions-dir',
      's',
      '--max-sessions',
      '7',
      '-y',
    );
    expect(given).toMatchObject({
      agent: { isOffline: true, mcpFile: '/there/m.json', allowed: new Set(['all']) },
      sessionsDir: '/there/s',
      maxSessions: 7,
    });
  });

  it.each([['--print'], ['--max-sessions', '0'], ['task']])('refuses %s %s', (...args) => {
    expect(() => parse(...args)).toThrow();
  });
});

describe('modes', () => {
  const tools = [
    { name: 'read_file', effect: 'read_only' },
    { name: 'write_file', effect: 'side_effecting' },
    { name: 'shell', effect: 'side_effecting' },
    { name: 'mail__send', effect: 'side_effecting' },
  ] as const;

  it.each([
    ['ask', ['read'], false, ['read_file']],
    ['ask', ['read', 'shell'], false, ['read_file', 'shell']],
    ['ask', ['all'], false, ['read_file']],
    ['read-only', ['all'], true, ['read_file']],
    ['full-access', ['read'], false, ['read_file', 'write_file', 'shell', 'mail__send']],
  ] as const)('%s after --allow %j', (mode, allowed, isDenied, free) => {
    const permissions = permissionsOf(mode, new Set(allowed));
    expect(permissions.isDenied).toBe(isDenied);
    expect(tools.filter((tool) => isAllowed(tool, permissions.allowed)).map(({ name }) => name)).toEqual(free);
  });

  it('begin as the program was started', () => {
    expect(sessionModes(new Set(['read'])).initial).toBe('ask');
    expect(sessionModes(new Set(['all'])).initial).toBe('full-access');
  });
});
