import { z } from 'zod';
import {
  boolEnv,
  ConfigError,
  intEnv,
  logFormatEnv,
  logLevelEnv,
  portEnv,
  ratioEnv,
  readEnv,
  secretEnv,
} from './env.js';

const SCHEMA = z.object({
  AGENT_PORT: portEnv(8001),
  AGENT_TTL_SECONDS: intEnv(30, { min: 1, max: 3_600 }),
  AGENT_PROBE: boolEnv(false),
  AGENT_SHARE: ratioEnv(0.5),
  AGENT_TOKEN: secretEnv.optional(),
  AGENT_LOG_FORMAT: logFormatEnv,
  AGENT_LOG_LEVEL: logLevelEnv,
});

function refusal(env: Record<string, string>): string {
  try {
    readEnv(SCHEMA, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('readEnv', () => {
  it('gives the defaults, also for blank values', () => {
    const defaults = {
      AGENT_PORT: 8001,
      AGENT_TTL_SECONDS: 30,
      AGENT_PROBE: false,
      AGENT_SHARE: 0.5,
      AGENT_LOG_FORMAT: 'json',
      AGENT_LOG_LEVEL: 'info',
    };
    expect(readEnv(SCHEMA, {})).toEqual(defaults);
    expect(readEnv(SCHEMA, { AGENT_PORT: '', AGENT_PROBE: '', AGENT_TOKEN: '', PATH: '/bin' })).toEqual(defaults);
  });

  it('reads what was given', () => {
    expect(
      readEnv(SCHEMA, { AGENT_PORT: '0', AGENT_PROBE: '1', AGENT_SHARE: '.25', AGENT_TOKEN: 't'.repeat(22) }),
    ).toMatchObject({ AGENT_PORT: 0, AGENT_PROBE: true, AGENT_SHARE: 0.25, AGENT_TOKEN: 't'.repeat(22) });
  });

  it.each([
    ['AGENT_PORT', '65536'],
    ['AGENT_PORT', 'http'],
    ['AGENT_PORT', '8001 '],
    ['AGENT_TTL_SECONDS', '0'],
    ['AGENT_TTL_SECONDS', '1e3'],
    ['AGENT_TTL_SECONDS', '9'.repeat(400)],
    ['AGENT_PROBE', 'yes'],
    ['AGENT_SHARE', '1.5'],
    ['AGENT_SHARE', '-0.1'],
    ['AGENT_TOKEN', 'swordfish'],
    ['AGENT_TOKEN', `swordfish ${'x'.repeat(30)}`],
    ['AGENT_LOG_FORMAT', 'xml'],
    ['AGENT_LOG_LEVEL', 'loud'],
  ])('refuses %s=%s by name', (name, value) => {
    expect(refusal({ [name]: value })).toContain(`${name}: `);
  });

  it('names all of what is wrong without repeating a value', () => {
    const message = refusal({
      AGENT_PORT: 'sw0rdfish-port',
      AGENT_TOKEN: 'sw0rdfish',
      AGENT_LOG_LEVEL: 'sw0rdfish-level',
    });
    expect(message).toMatch(/AGENT_PORT: .*\n.*AGENT_TOKEN: .*\n.*AGENT_LOG_LEVEL: /);
    expect(message).not.toContain('sw0rdfish');
  });
});
