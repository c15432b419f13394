import { jest } from '@jest/globals';
import type { JsonObject } from '../json.js';
import { StepOutcome } from '../tools/step-outcome.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import type { ToolCallContext } from '../tools/tool-handler.js';
import { ToolSchemaConfigurationError } from './tool-schema-configuration-error.js';
import {
  ToolSchemaValidationMiddleware,
  type ToolSchemaValidationOptions,
} from './tool-schema-validation-middleware.js';

const { signal } = new AbortController();

function tool(parameters?: JsonObject, name = 'typed'): ToolDefinition {
  return { name, description: '', effect: 'side_effecting', ...(parameters !== undefined && { parameters }) };
}

function call(definition: ToolDefinition, args: JsonObject): ToolCallContext {
  return {
    agentId: 'agent',
    runId: 'run-1',
    turn: 1,
    callId: 'c1',
    tool: definition,
    arguments: args,
    signal,
    progress: { report: async () => undefined },
  };
}

interface Result {
  status: string;
  code: string;
  errors: { path: string; keyword: string; message: string }[];
  truncated?: boolean;
}

/** `ok` if the tool was reached, else the result. Arguments may be given as the model writes them. */
async function check(
  parameters: JsonObject,
  args: JsonObject | string,
  options?: ToolSchemaValidationOptions,
): Promise<'ok' | Result> {
  const middleware = new ToolSchemaValidationMiddleware(options);
  const definition = tool(parameters);
  middleware.start([definition], signal);
  const parsed = typeof args === 'string' ? (JSON.parse(args) as JsonObject) : args;
  const outcome = await middleware.handle(call(definition, parsed), async () => new StepOutcome('ok'));
  expect(outcome.control).toBe('continue');
  expect(outcome.error).toBeUndefined();
  return outcome.data as 'ok' | Result;
}

async function faultsOf(...args: Parameters<typeof check>): Promise<string[]> {
  const result = await check(...args);
  return result === 'ok' ? [] : result.errors.map((error) => `${error.path} ${error.keyword}`);
}

function start(parameters: unknown, options?: ToolSchemaValidationOptions): void {
  new ToolSchemaValidationMiddleware(options).start([tool(parameters as JsonObject, 'bad')], signal);
}

const typed: JsonObject = {
  type: 'object',
  properties: { n: { type: 'integer' } },
  required: ['n'],
  additionalProperties: false,
};

describe('arguments', () => {
  it('that fit reach the tool, and tools without parameters take anything', async () => {
    expect(await check(typed, { n: 4 })).toBe('ok');
    const middleware = new ToolSchemaValidationMiddleware();
    middleware.start([tool()], signal);
    const outcome = await middleware.handle(call(tool(), { any: 1 }), async () => new StepOutcome('ok'));
    expect(outcome.data).toBe('ok');
  });

  it('that do not fit become a result which names places and rules', async () => {
    expect(await check(typed, { n: 'hunter2', extra: 'hunter2' })).toStrictEqual({
      status: 'error',
      tool: 'typed',
      code: 'invalid_tool_arguments',
      errors: [
        { path: '', keyword: 'additionalProperties', message: 'unexpected properties are not allowed' },
        { path: '/n', keyword: 'type', message: 'value does not match the required type' },
      ],
    });
    expect(await check(typed, {})).toMatchObject({
      errors: [{ path: '/n', keyword: 'required', message: 'required property is missing' }],
    });
  });

  it('never come back in a result', async () => {
    const schema: JsonObject = {
      type: 'object',
      properties: {
        a: { enum: ['x'] },
        b: { const: 1 },
        c: { type: 'string', pattern: '^x$', maxLength: 3, format: 'date' },
        d: { type: 'array', uniqueItems: true },
        e: { anyOf: [{ type: 'number' }, { type: 'null' }] },
      },
      additionalProperties: false,
    };
    const secret = 'hunter2-hunter2';
    const result = await check(schema, { a: secret, b: secret, c: secret, d: [secret, secret], e: secret });
    expect(JSON.stringify(result)).not.toContain('hunter2');
    expect(result).toMatchObject({ errors: { length: 7 } });
  });

  it('with many mistakes are told some of them', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `p${String.fromCharCode(97 + i)}`);
    const schema = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'integer' }])) };
    const args = Object.fromEntries(names.map((name) => [name, 'x']));
    const eight = await check(schema, args);
    expect(eight).toMatchObject({ errors: { length: 8 }, truncated: true });
    const three = await check(schema, args, { maxErrors: 3 });
    expect(three).toMatchObject({ errors: [{ path: '/pa' }, { path: '/pb' }, { path: '/pc' }], truncated: true });
    const all = await check(schema, args, { maxErrors: 12 });
    expect(all).toMatchObject({ errors: { length: 12 } });
    expect(all).not.toHaveProperty('truncated');
  });

  it('are pointed to by JSON Pointers', async () => {
    const schema: JsonObject = {
      properties: { 'a/b~c': { type: 'array', items: { type: 'object', required: ['x/y'] } } },
    };
    expect(await faultsOf(schema, { 'a/b~c': [{ 'x/y': 1 }, {}] })).toStrictEqual(['/a~1b~0c/1/x~1y required']);
  });

  it('with a name of any length give a path of bounded length', async () => {
    const result = await check({ additionalProperties: { type: 'string' } }, { ['k'.repeat(100_000)]: 1 });
    expect(JSON.stringify(result).length).toBeLessThan(600);
  });

  it('give one error for alternatives, also behind references, and keep the others', async () => {
    const schema: JsonObject = {
      type: 'object',
      properties: {
        a: { anyOf: [{ type: 'integer' }, { $ref: '#/definitions/named' }] },
        b: { type: 'integer' },
      },
      required: ['c'],
      anyOf: [{ required: ['x'] }, { required: ['y'] }],
      definitions: { named: { type: 'object', required: ['name'] } },
    };
    const found = await faultsOf(schema, { a: { other: 1 }, b: 'no' });
    expect(found).toStrictEqual([' anyOf', '/a anyOf', '/b type', '/c required']);
  });

  it('give the errors of then, and of names as a whole', async () => {
    const schema: JsonObject = {
      if: { required: ['a'] },
      then: { required: ['b'] },
      propertyNames: { maxLength: 3 },
    };
    expect(await faultsOf(schema, { a: 1, toolong: 2 })).toStrictEqual([' propertyNames', '/b required']);
  });

  it('may be multiples of fractions', async () => {
    const schema = { properties: { n: { multipleOf: 0.01 } } };
    expect(await check(schema, { n: 0.07 })).toBe('ok');
    expect(await faultsOf(schema, { n: 0.075 })).toStrictEqual(['/n multipleOf']);
  });

  it('are unique by value', async () => {
    const schema = { properties: { l: { type: 'array', uniqueItems: true } } };
    expect(await faultsOf(schema, '{"l":[{"a":1,"b":[2]},{"b":[2],"a":1.0}]}')).toStrictEqual(['/l uniqueItems']);
    expect(await check(schema, '{"l":[1,"1",[1],{"1":1},null,"null",true,"true"]}')).toBe('ok');
    expect(await check({ properties: { l: { uniqueItems: false } } }, { l: [1, 1] })).toBe('ok');
  });

  it('are not taken for what every object inherits', async () => {
    const schema: JsonObject = {
      properties: { constructor: { type: 'string' }, toString: { type: 'string' } },
      additionalProperties: false,
    };
    expect(await check(schema, {})).toBe('ok');
    expect(await faultsOf({ required: ['toString'] }, {})).toStrictEqual(['/toString required']);
    expect(await faultsOf({ required: ['__proto__'] }, {})).toStrictEqual(['/__proto__ required']);
    expect(await check({ required: ['__proto__'] }, '{"__proto__":1}')).toBe('ok');
    expect(await faultsOf(schema, '{"__proto__":{"polluted":true}}')).toStrictEqual([' additionalProperties']);
    expect(await faultsOf(schema, '{"constructor":1}')).toStrictEqual(['/constructor type']);
    expect(Object.prototype).not.toHaveProperty('polluted');
  });

  it('with inherited names are not counted as evaluated', async () => {
    const schema: JsonObject = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      anyOf: [{ properties: { a: true } }],
      unevaluatedProperties: false,
    };
    expect(await check(schema, { a: 1 })).toBe('ok');
    for (const name of ['constructor', '__proto__', 'toString', 'b']) {
      expect([name, await faultsOf(schema, `{${JSON.stringify(name)}:1}`)]).toStrictEqual([
        name,
        [' unevaluatedProperties'],
      ]);
    }
  });

  it('are checked for formats that are known', async () => {
    const schema = { properties: { d: { format: 'date' }, u: { format: 'uri' }, x: { format: 'no-such-format' } } };
    expect(await check(schema, { d: '2024-02-29', u: 'https://a.example/b?c=d', x: 'anything' })).toBe('ok');
    expect(await faultsOf(schema, { d: '2023-02-29', u: 'no uri' })).toStrictEqual(['/d format', '/u format']);
    expect(await faultsOf({ properties: { i: { format: 'int32' } } }, { i: 2 ** 31 })).toStrictEqual(['/i format']);
  });
});

describe('dialects', () => {
  const tuple = (keyword: string, $schema?: string): JsonObject => ({
    ...($schema !== undefined && { $schema }),
    properties: { t: { type: 'array', [keyword]: [{ type: 'string' }, { type: 'integer' }] } },
  });

  it.each([
    ['items', 'http://json-schema.org/draft-07/schema#'],
    ['items', 'https://json-schema.org/draft/2019-09/schema'],
    ['prefixItems', 'https://json-schema.org/draft/2020-12/schema'],
    ['prefixItems', 'https://json-schema.org/draft/2020-12/schema#'],
    ['items', undefined],
    ['prefixItems', undefined],
    ['items', 'https://example.com/my-own-dialect'],
  ])('%s under %s checks the places of a list', async (keyword, dialect) => {
    expect(await check(tuple(keyword, dialect), { t: ['a', 1] })).toBe('ok');
    expect(await faultsOf(tuple(keyword, dialect), { t: ['a', 'b'] })).toStrictEqual(['/t/1 type']);
  });

  it('are told by the list under items even if a newer keyword is there', async () => {
    const schema = { ...tuple('items'), dependentRequired: { t: ['u'] } };
    expect(await faultsOf(schema, { t: ['a', 'b'] })).toStrictEqual(['/t/1 type']);
  });

  it('differ in keywords: draft-07 knows no dependentRequired', async () => {
    const schema = { dependentRequired: { a: ['b'] } };
    const old = { ...schema, $schema: 'http://json-schema.org/draft-07/schema' };
    expect(await check(old, { a: 1 })).toBe('ok');
    const newer = { ...schema, $schema: 'https://json-schema.org/draft/2019-09/schema' };
    expect(await faultsOf(newer, { a: 1 })).toStrictEqual([' dependentRequired']);
  });

  it('stay apart when tools of several dialects and with equal ids start together', async () => {
    const a = tool(
      {
        $id: 'https://x.example/s',
        properties: { v: { $ref: '#/definitions/v' } },
        definitions: { v: { type: 'string' } },
      },
      'a',
    );
    const b = tool(
      {
        $id: 'https://x.example/s',
        properties: { v: { $ref: '#/definitions/v' } },
        definitions: { v: { type: 'number' } },
      },
      'b',
    );
    const c = tool(tuple('prefixItems', 'https://json-schema.org/draft/2020-12/schema'), 'c');
    const middleware = new ToolSchemaValidationMiddleware();
    middleware.start([a, b, c], signal);
    const next = async () => new StepOutcome('ok');
    expect((await middleware.handle(call(a, { v: 'x' }), next)).data).toBe('ok');
    expect((await middleware.handle(call(b, { v: 'x' }), next)).data).toMatchObject({ errors: [{ path: '/v' }] });
    expect((await middleware.handle(call(c, { t: [1] }), next)).data).toMatchObject({ errors: [{ path: '/t/0' }] });
  });
});

describe('schemas', () => {
  it.each<[string, unknown]>([
    ['an unknown type', { type: 'objekt' }],
    ['a broken keyword', { properties: { a: { minimum: 'low' } } }],
    ['no object', 'object'],
    ['a list', []],
    ['null', null],
    ['a reference to nowhere', { properties: { a: { $ref: '#/definitions/none' } } }],
    ['a reference to the network', { $ref: 'https://example.com/schema.json' }],
    ['a reference to a file', { $ref: 'file:///etc/passwd' }],
    ['a pattern that no engine can read', { properties: { a: { pattern: '(' } } }],
    ['a $schema that is no text', { $schema: 7 }],
    ['a property that is no schema', { properties: { a: 5 } }],
  ])('with %s fail the start and name the tool', (_what, parameters) => {
    expect(() => start(parameters)).toThrow(ToolSchemaConfigurationError);
    expect(() => start(parameters)).toThrow("tool 'bad' contains an invalid parameters schema");
  });

  it('nested without end or of enormous size fail the start quickly', () => {
    let deep: JsonObject = {};
    for (let i = 0; i < 50_000; i += 1) deep = { not: deep };
    expect(() => start(deep)).toThrow(ToolSchemaConfigurationError);
    const wide = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`p${i}`, { type: 'string' }]));
    expect(() => start({ properties: wide })).toThrow(ToolSchemaConfigurationError);
  });

  it('are not fetched', async () => {
    const fetched = jest.spyOn(globalThis, 'fetch').mockImplementation(() => Promise.reject(new Error('fetched')));
    try {
      expect(() => start({ $ref: 'https://example.com/schema.json' })).toThrow(ToolSchemaConfigurationError);
      expect(fetched).not.toHaveBeenCalled();
    } finally {
      fetched.mockRestore();
    }
  });

  it('that come while the agent runs are checked too', async () => {
    const middleware = new ToolSchemaValidationMiddleware();
    middleware.start([], signal);
    const next = async () => new StepOutcome('ok');
    const before = tool({ properties: { v: { type: 'string' } } });
    const after = tool({ properties: { v: { type: 'number' } } });
    expect((await middleware.handle(call(before, { v: 'x' }), next)).data).toBe('ok');
    expect((await middleware.handle(call(after, { v: 'x' }), next)).data).toMatchObject({ status: 'error' });
    const broken = middleware.handle(call(tool({ type: 'objekt' }), {}), next);
    await expect(broken).rejects.toThrow(ToolSchemaConfigurationError);
  });

  it('are left as they are', () => {
    const schema = Object.freeze({
      type: 'object',
      properties: Object.freeze({ a: Object.freeze({ type: 'string' }) }),
    });
    const before = JSON.stringify(schema);
    start(schema);
    expect(JSON.stringify(schema)).toBe(before);
  });

  it('may have properties called like keywords', async () => {
    const schema: JsonObject = {
      properties: {
        enum: { $ref: '#/definitions/id' },
        properties: { type: 'object', properties: { const: { type: 'integer' } } },
        default: { type: 'integer' },
        $ref: { type: 'integer' },
      },
      definitions: { id: { type: 'string' } },
    };
    const args = { enum: 1, properties: { const: 'x' }, default: 'x', $ref: 'x' };
    expect(await faultsOf(schema, args)).toStrictEqual([
      '/$ref type',
      '/default type',
      '/enum type',
      '/properties/const type',
    ]);
  });

  it.each([0, -1, 1.5, Number.NaN])('a limit of %p errors is refused', (maxErrors) => {
    expect(() => new ToolSchemaValidationMiddleware({ maxErrors })).toThrow(RangeError);
  });
});
