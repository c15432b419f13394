import { z } from 'zod';
import { defineTool } from './define-tool.js';
import { completed, contents, recordedTurn, started } from './recorded-turn.test-helper.js';
import { StepOutcome } from './step-outcome.js';
import { toolHandler } from './tool-group.js';
import { ToolRuntime } from './tool-runtime.js';

const transfer = defineTool({
  name: 'transfer',
  description: 'Moves money.',
  parameters: z
    .strictObject({
      amount: z.number().min(1).max(100),
      to: z.string().min(3),
      currency: z.enum(['EUR', 'USD']).default('EUR'),
      'a/b~c': z.array(z.object({ n: z.int() })).optional(),
    })
    .refine((value) => value.to !== 'self', 'cannot be sent to oneself'),
  run: ({ amount, to, currency }) => new StepOutcome({ sent: amount.toFixed(2), to: to.toUpperCase(), currency }),
});

async function call(tool: Parameters<typeof started>[0][number], args: unknown) {
  const runtime = await started([tool]);
  const turn = recordedTurn([{ id: 'c1', name: tool.definition.name, arguments: JSON.stringify(args) }]);
  const outcome = await runtime.runTurn(turn);
  return { outcome, content: contents(turn)[0] ?? '', result: completed(turn)[0]?.result };
}

describe('a tool with a zod schema', () => {
  it('tells the model what goes in', () => {
    expect(transfer.definition).toMatchObject({
      name: 'transfer',
      description: 'Moves money.',
      effect: 'side_effecting',
    });
    expect(JSON.parse(JSON.stringify(transfer.definition.parameters))).toMatchObject({
      type: 'object',
      required: ['amount', 'to'],
      additionalProperties: false,
      properties: {
        amount: { type: 'number', minimum: 1, maximum: 100 },
        currency: { default: 'EUR', enum: ['EUR', 'USD'] },
      },
    });
  });

  it('gets arguments that are checked, typed and completed', async () => {
    const { content } = await call(transfer, { amount: 5, to: 'bob' });
    expect(content).toBe('{"sent": "5.00", "to": "BOB", "currency": "EUR"}');
  });

  it('never runs with others; the model is told where and what, without the values', async () => {
    const { outcome, content, result } = await call(transfer, {
      amount: 'hunter2',
      to: 'hunter2 is too short'.slice(0, 2),
      currency: 'hunter2',
      'a/b~c': [{ n: 1.5 }, { n: 'hunter2' }],
      hunter2: 1,
    });
    expect(outcome).toEqual({ kind: 'continue' });
    expect(JSON.parse(content)).toEqual({
      status: 'error',
      tool: 'transfer',
      code: 'invalid_tool_arguments',
      errors: [
        { path: '/amount', keyword: 'invalid_type', message: 'must be number' },
        { path: '/to', keyword: 'too_small', message: 'must be >= 3 (string)' },
        { path: '/currency', keyword: 'invalid_value', message: 'must be one of "EUR", "USD"' },
        { path: '/a~1b~0c/0/n', keyword: 'invalid_type', message: 'must be int' },
        { path: '/a~1b~0c/1/n', keyword: 'invalid_type', message: 'must be number' },
        { path: '', keyword: 'unrecognized_keys', message: 'must not have additional properties' },
      ],
    });
    expect(content).not.toContain('hunter2');
    expect(result).toMatchObject({ control: 'continue', cancelled: false, error: null });
  });

  it('names the property that is missing', async () => {
    const { content } = await call(transfer, { to: 'bob' });
    expect(JSON.parse(content)).toMatchObject({ errors: [{ path: '/amount', keyword: 'invalid_type' }] });
  });

  it('says what its own check says', async () => {
    const { content } = await call(transfer, { amount: 5, to: 'self' });
    expect(JSON.parse(content)).toMatchObject({
      errors: [{ path: '', keyword: 'custom', message: 'cannot be sent to oneself' }],
    });
  });

  it('gives eight errors at most', async () => {
    const many = defineTool({
      name: 'many',
      description: '',
      parameters: z.object({ list: z.array(z.number()) }),
      run: () => 'never',
    });
    const nine = JSON.parse((await call(many, { list: Array(9).fill('x') })).content);
    expect([nine.errors.length, nine.truncated]).toEqual([8, true]);
    const eight = JSON.parse((await call(many, { list: Array(8).fill('x') })).content);
    expect([eight.errors.length, eight.truncated]).toEqual([8, undefined]);
  });

  it.each([
    ['too_big', z.object({ v: z.number().lt(1) }), { v: 1 }, 'must be < 1 (number)'],
    ['not_multiple_of', z.object({ v: z.number().multipleOf(5) }), { v: 3 }, 'must be a multiple of 5'],
    ['invalid_format', z.object({ v: z.email() }), { v: 'hunter2' }, 'must match format "email"'],
    [
      'invalid_union',
      z.object({ v: z.union([z.string(), z.number()]) }),
      { v: true },
      'must match one of the allowed forms',
    ],
    [
      'invalid_key',
      z.object({ v: z.record(z.string().min(9), z.number()) }),
      { v: { a: 1 } },
      'has a key that is not allowed',
    ],
  ])('words %s itself', async (keyword, parameters, args, message) => {
    const tool = defineTool({ name: 't', description: '', parameters, run: () => 'never' });
    expect(JSON.parse((await call(tool, args)).content)).toMatchObject({ errors: [{ keyword, message }] });
  });

  it('may check asynchronously', async () => {
    const parameters = z.object({ v: z.string().refine((value) => Promise.resolve(value === 'ok'), 'is not ok') });
    const tool = defineTool({ name: 't', description: '', parameters, run: ({ v }) => v });
    expect((await call(tool, { v: 'ok' })).content).toBe('ok');
    expect((await call(tool, { v: 'no' })).content).toContain('is not ok');
  });

  it('cannot be made of a schema that no provider takes', () => {
    const make = (parameters: z.ZodType) => () => defineTool({ name: 't', description: '', parameters, run: () => '' });
    expect(make(z.string())).toThrow('must be a schema of an object');
    expect(make(z.object({ at: z.date() }))).toThrow('have no JSON Schema');
    expect(() => defineTool({ name: 'a b', description: '', run: () => '' })).toThrow(
      expect.objectContaining({ field: 'name' }),
    );
  });
});

describe('a tool with a JSON Schema', () => {
  it('gets its arguments as they are', async () => {
    const parameters = { type: 'object', properties: { n: { type: 'number' } } };
    const tool = defineTool({
      name: 't',
      description: 'T',
      effect: 'read_only',
      strict: true,
      parameters,
      run: ({ n }) => ({ n }),
    });
    expect(tool.definition).toEqual({ name: 't', description: 'T', effect: 'read_only', strict: true, parameters });
    expect((await call(tool, { n: 'x' })).content).toBe('{"n": "x"}');
  });
});

describe('a group of tools', () => {
  it('is a handler with hooks of its own', async () => {
    const log: string[] = [];
    class Hooks {
      readonly #name = 'hooks';
      async start(): Promise<void> {
        log.push(`${this.#name} start`);
      }
      async stop(): Promise<void> {
        log.push(`${this.#name} stop`);
      }
      onTask(): void {
        log.push(`${this.#name} task`);
      }
    }
    const runtime = new ToolRuntime({ handlers: [toolHandler(new Hooks(), transfer), toolHandler()] });
    const { signal } = new AbortController();
    await runtime.start(signal);
    expect(runtime.definitions).toEqual([transfer.definition]);
    await runtime.onTask({ agentId: 'a', runId: 'r', task: null, signal });
    await runtime.stop();
    expect(log).toEqual(['hooks start', 'hooks task', 'hooks stop']);
  });

  it('has each name once', () => {
    expect(() => toolHandler(transfer, transfer)).toThrow('tool name is used twice');
  });
});
