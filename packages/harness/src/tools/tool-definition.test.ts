import { normalizeToolDefinition } from './normalize-tool-definition.js';
import { toOpenAiTool } from './open-ai-tool.js';
import { ToolDefinitionError } from './tool-definition-error.js';

const parameters = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } as const;

function fieldOf(input: unknown): string {
  try {
    normalizeToolDefinition(input);
  } catch (error) {
    if (error instanceof ToolDefinitionError) return error.field;
    throw error;
  }
  return 'accepted';
}

describe('a tool definition', () => {
  it('comes in three forms', () => {
    const expected = { name: 'add', description: 'Adds.', parameters, effect: 'side_effecting', strict: true };
    const fields = { name: 'add', description: 'Adds.', parameters, strict: true };
    expect(normalizeToolDefinition(fields)).toEqual(expected);
    expect(normalizeToolDefinition({ type: 'function', ...fields })).toEqual(expected);
    expect(normalizeToolDefinition({ type: 'function', function: fields })).toEqual(expected);
  });

  it('keeps its effect, which the caller may replace', () => {
    const own = normalizeToolDefinition({ name: 'r', description: '', effect: 'read_only' });
    expect(own.effect).toBe('read_only');
    expect(normalizeToolDefinition(own, { effect: 'side_effecting' }).effect).toBe('side_effecting');
    expect(normalizeToolDefinition({ type: 'function', function: { name: 'r' } }, { effect: 'read_only' }).effect).toBe(
      'read_only',
    );
  });

  it('has nothing where nothing was given', () => {
    expect(normalizeToolDefinition({ name: 'x', description: null, parameters: null, strict: null })).toEqual({
      name: 'x',
      description: '',
      effect: 'side_effecting',
    });
  });

  it('does not follow later changes of what it was made from, and cannot be changed', () => {
    const input = { name: 'x', description: '', parameters: { type: 'object', properties: { a: {} as object } } };
    const definition = normalizeToolDefinition(input);
    input.parameters.properties.a = { type: 'string' };
    expect(definition.parameters).toEqual({ type: 'object', properties: { a: {} } });
    expect(Object.isFrozen(definition.parameters?.['properties'])).toBe(true);
    expect(normalizeToolDefinition(definition)).toBe(definition);
  });

  const cyclic: Record<string, unknown> = { type: 'object' };
  cyclic['self'] = cyclic;

  it.each([
    ['tool', null],
    ['tool', 'add'],
    ['tool', []],
    ['type', { type: 'custom', name: 'x' }],
    ['function', { type: 'function', function: 'x' }],
    ['name', {}],
    ['name', { name: '' }],
    ['name', { name: 'a b' }],
    ['name', { name: 'é' }],
    ['name', { name: 'a\n' }],
    ['name', { name: 'x'.repeat(65) }],
    ['name', { type: 'function', function: { description: '' } }],
    ['description', { name: 'x', description: 1 }],
    ['parameters', { name: 'x', parameters: [] }],
    ['parameters', { name: 'x', parameters: 'object' }],
    ['parameters', { name: 'x', parameters: { type: 'string' } }],
    ['parameters', { name: 'x', parameters: cyclic }],
    ['parameters', { name: 'x', parameters: () => undefined }],
    ['effect', { name: 'x', effect: 'harmless' }],
    ['strict', { name: 'x', strict: 'yes' }],
    ['accepted', { name: 'x'.repeat(64) }],
    ['accepted', { name: 'A-z_0' }],
    ['accepted', { name: 'x', parameters: {} }],
  ])('names what is wrong: %s', (field, input) => {
    expect(fieldOf(input)).toBe(field);
  });

  it('goes to a provider without its effect', () => {
    const definition = normalizeToolDefinition({
      name: 'add',
      description: 'Adds.',
      parameters,
      effect: 'read_only',
      strict: true,
    });
    expect(toOpenAiTool(definition)).toEqual({
      type: 'function',
      function: { name: 'add', description: 'Adds.', parameters, strict: true },
    });
    expect(toOpenAiTool(definition)).toBe(toOpenAiTool(definition));
    expect(toOpenAiTool(normalizeToolDefinition({ name: 'x' }))).toEqual({ type: 'function', function: { name: 'x' } });
    expect(normalizeToolDefinition(toOpenAiTool(definition), { effect: 'read_only' })).toEqual(definition);
  });
});
