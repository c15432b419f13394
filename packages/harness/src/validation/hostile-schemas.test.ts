import { jest } from '@jest/globals';
import type { JsonObject, JsonValue } from '../json.js';
import { StepOutcome } from '../tools/step-outcome.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import { ToolSchemaValidationMiddleware } from './tool-schema-validation-middleware.js';

const { signal } = new AbortController();

/** Far above what a check takes, far below what it would take unbounded. */
const SOON_MS = 4_000;

async function resultOf(parameters: JsonObject, args: JsonObject, warn = jest.fn()) {
  const tool: ToolDefinition = { name: 't', description: '', effect: 'read_only', parameters };
  const middleware = new ToolSchemaValidationMiddleware({ logger: { warn } });
  middleware.start([tool], signal);
  const context = {
    agentId: 'agent',
    runId: 'run-1',
    turn: 1,
    callId: 'c1',
    tool,
    arguments: args,
    signal,
    progress: { report: async () => undefined },
  };
  const begun = performance.now();
  const { data } = await middleware.handle(context, async () => new StepOutcome('ok'));
  expect(performance.now() - begun).toBeLessThan(SOON_MS);
  return data;
}

const tooLarge = { errors: [{ path: '', keyword: 'schema', message: 'arguments are too large to be checked' }] };

describe('hostile patterns', () => {
  it.each(['^(a+)+$', '^(a|aa)+$', '^(a|a?)+$', '(x+x+)+y', '^([a-zA-Z]+)*$', '(.*)*=.*'])(
    '%s cannot hang the process',
    async (pattern) => {
      const text = `${'a'.repeat(50_000)}!`;
      const data = await resultOf({ properties: { s: { type: 'string', pattern } } }, { s: text });
      expect(data === 'ok' || (data as { status: string }).status === 'error').toBe(true);
    },
  );

  it('cannot hang the process as names of properties', async () => {
    const schema = { patternProperties: { '^(a+)+$': { type: 'string' } }, additionalProperties: false };
    expect(await resultOf(schema, { [`${'a'.repeat(50_000)}!`]: 1 })).toMatchObject({ status: 'error' });
  });

  it('of great size with long texts are given up on', async () => {
    const schema = { properties: { s: { type: 'string', pattern: '^(?:(?:a?){90}(?:b?){90}c?){10}$' } } };
    const list = { type: 'array', items: schema.properties.s };
    expect(await resultOf({ properties: { l: list } }, { l: Array(200).fill('ab'.repeat(5_000)) })).toMatchObject(
      tooLarge,
    );
  });

  it.each([
    ['lookaheads', '^(?=.*[0-9])[a-z0-9]+$'],
    ['lookbehinds', '(?<!a)b'],
    ['references', '(a)\\1'],
    ['great length', `a${'b'.repeat(5_000)}`],
  ])('with %s, which RE2 cannot take, are not checked, with a warning', async (_what, pattern) => {
    const warn = jest.fn();
    expect(await resultOf({ properties: { s: { type: 'string', pattern } } }, { s: '!' }, warn)).toBe('ok');
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]?.[1]).toMatchObject({ tool: 't', pattern: pattern.slice(0, 200) });
  });

  it('each keep their own meaning when several cannot be checked', async () => {
    const schema = {
      properties: {
        a: { type: 'string', pattern: '(?=x)' },
        b: { type: 'string', pattern: '^b$' },
        c: { type: 'string', pattern: '^c$' },
      },
    };
    const data = await resultOf(schema, { a: 'no', b: 'c', c: 'c' });
    expect(data).toMatchObject({ errors: [{ path: '/b', keyword: 'pattern' }] });
  });

  it.each([
    ['(?i)^abc$', 'ABC'],
    ['^(?P<year>\\d{4})$', '2024'],
    ['^(?<year>\\d{4})$', '2024'],
    ['^\\p{L}+$', 'Ünï'],
    ['^[\\w-]+\\/\\u0041$', 'a-b/A'],
  ])('of other dialects work: %s', async (pattern, text) => {
    const schema = { properties: { s: { type: 'string', pattern } } };
    expect(await resultOf(schema, { s: text })).toBe('ok');
    expect(await resultOf(schema, { s: '!' })).toMatchObject({ errors: [{ path: '/s', keyword: 'pattern' }] });
  });
});

describe('hostile schemas', () => {
  it('that apply themselves exponentially often are given up on', async () => {
    const definitions: Record<string, JsonValue> = { d0: { type: 'object' } };
    for (let i = 1; i <= 40; i += 1) {
      const below = { $ref: `#/definitions/d${i - 1}` };
      definitions[`d${i}`] = { allOf: [below, { not: { not: below } }] };
    }
    expect(await resultOf({ $ref: '#/definitions/d40', definitions }, {})).toMatchObject(tooLarge);
  });

  it('that branch with the depth of the arguments are given up on', async () => {
    const node = { properties: { x: { anyOf: [{ $ref: '#' }, { $ref: '#', required: ['y'] }] } }, required: ['z'] };
    let args: JsonObject = {};
    for (let i = 0; i < 60; i += 1) args = { x: args };
    expect(await resultOf(node, args)).toMatchObject(tooLarge);
  });

  it('that refer to themselves in place end', async () => {
    const schema = {
      allOf: [{ $ref: '#/definitions/a' }],
      definitions: { a: { allOf: [{ $ref: '#/definitions/a' }] } },
    };
    expect(await resultOf(schema, {})).toMatchObject({ status: 'error', errors: [{ keyword: 'schema' }] });
  });

  it('with long enumerations and many values are given up on', async () => {
    const values = Array.from({ length: 5_000 }, (_, i) => ({ id: `value ${i}` }));
    const schema = { properties: { l: { type: 'array', items: { enum: values } } } };
    const args = { l: Array.from({ length: 9_000 }, () => ({ id: 'value 4999' })) };
    expect(await resultOf(schema, args)).toMatchObject(tooLarge);
  });
});

describe('huge arguments', () => {
  it('nested deeper than the stack are refused', async () => {
    let args: JsonObject = {};
    for (let i = 0; i < 100_000; i += 1) args = { x: args };
    const data = await resultOf({ properties: { x: { $ref: '#' } } }, args);
    expect(data).toMatchObject({ status: 'error', errors: [{ path: '', keyword: 'schema' }] });
  });

  it('are compared for uniqueness in linear time', async () => {
    const schema = { properties: { l: { type: 'array', uniqueItems: true } } };
    const l = Array.from({ length: 100_000 }, (_, i) => ({ i }));
    expect(await resultOf(schema, { l })).toBe('ok');
    expect(await resultOf(schema, { l: [...l, { i: 0 }] })).toMatchObject({ errors: [{ keyword: 'uniqueItems' }] });
  });

  it('with a mistake in every value give one error, not one for each', async () => {
    const schema = { properties: { l: { type: 'array', items: { type: 'string' } } } };
    const data = await resultOf(schema, { l: Array(500_000).fill(1) });
    expect(data).toMatchObject({ errors: [{ path: '/l/0', keyword: 'type' }], truncated: true });
    expect((data as { errors: unknown[] }).errors).toHaveLength(1);
  });

  it.each(['url', 'uri', 'email', 'hostname', 'uri-template', 'ipv6', 'date-time'])(
    'cannot hang the process through the format %s',
    async (format) => {
      const schema = { properties: { l: { type: 'array', items: { type: 'string', format } } } };
      const texts = [
        `http://${':'.repeat(100_000)}!`,
        `a@${'a.'.repeat(50_000)}`,
        'a-'.repeat(2_000),
        '{a'.repeat(2_000),
      ];
      expect(await resultOf(schema, { l: texts })).toMatchObject({ status: 'error' });
    },
  );
});
