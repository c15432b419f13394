import { validate, type AppError } from '@parley/service-kit';
import { manifestSchema } from './manifest.js';

const base = { agent_id: 'a', name: 'A', endpoint: 'http://a:1', capabilities: ['translate'] };

function refusal(input: unknown): readonly { path: string; message: string }[] {
  try {
    validate(manifestSchema, input);
  } catch (error) {
    return (error as AppError).errors;
  }
  throw new Error('was accepted');
}

describe('a manifest', () => {
  it('gives the list of names for each of the three forms of capabilities', () => {
    expect(validate(manifestSchema, base).capabilities).toEqual(['translate']);
    const texts = validate(manifestSchema, {
      ...base,
      capabilities: { translate: '1.2.0', summarize: 'makes it short' },
    });
    expect(texts.capabilities).toEqual(['translate', 'summarize']);
    expect(texts.capability_details).toEqual({
      translate: { version: '1.2.0' },
      summarize: { description: 'makes it short' },
    });
    const details = validate(manifestSchema, {
      ...base,
      capabilities: {
        translate: {
          version: '1.0.0',
          parameters: { language: { type: 'string', enum: ['ru', 'de'], default: 'ru' } },
        },
      },
    });
    expect(details.capability_details?.['translate']?.parameters?.['language']?.default).toBe('ru');
  });

  it('keeps the order and drops duplicates', () => {
    expect(validate(manifestSchema, { ...base, capabilities: ['b', 'a', 'b'] }).capabilities).toEqual(['b', 'a']);
  });

  it.each([
    [{ ...base, capabilitys: [] }, 'capabilitys'],
    [{ ...base, capabilities: [] }, 'capabilities'],
    [{ ...base, capabilities: {} }, 'capabilities'],
    [{ ...base, capabilities: ['ok', 'not ok'] }, 'capabilities[1]'],
    [{ ...base, capabilities: { translate: { versoin: '1.0.0' } } }, 'capabilities.translate.versoin'],
    [{ ...base, endpoint: 'ftp://x' }, 'endpoint'],
    [{ ...base, endpoint: 'http://user:pw@x' }, 'endpoint'],
    [{ ...base, endpoint: 'http://x/#y' }, 'endpoint'],
    [{ ...base, agent_id: '-x' }, 'agent_id'],
    [{ ...base, ttl_seconds: 0 }, 'ttl_seconds'],
    [{ ...base, metadata: { big: 'x'.repeat(17_000) } }, 'metadata'],
    [{ ...base, capability_details: { other: { version: '1.0.0' } } }, 'capability_details.other'],
    [
      { ...base, capabilities: { t: { parameters: { p: { type: 'string', pattern: '(' } } } } },
      'capabilities.t.parameters.p.pattern',
    ],
    [{ ...base, labels: { region: 1 } }, 'labels.region'],
  ])('names the wrong field (%#)', (input, path) => {
    expect(refusal(input).map((error) => error.path)).toContain(path);
  });
});
