import fc from 'fast-check';
import type { ParameterSchema, Scalar } from '../skill.js';
import { parameterFault } from '../wire/manifest.js';
import { matchCapabilities, type MatchedCapability } from './match-capabilities.js';
import { declaredKeys, flattenParameters, resolveParameters, undeclaredKeys } from './resolve-parameters.js';

function capability(name: string, parameters: Record<string, ParameterSchema>): MatchedCapability {
  return { name, parameters: new Map(Object.entries(parameters)) };
}

const language: ParameterSchema = { type: 'string', enum: ['ru', 'de'], default: 'ru' };
const review = capability('code_review', { language, depth: { type: 'integer', minimum: 1, maximum: 5 } });

function flat(capabilities: readonly MatchedCapability[], given: Record<string, Scalar>): Record<string, Scalar> {
  return flattenParameters(capabilities, resolveParameters(capabilities, given).values);
}

describe('parameters of a proposal', () => {
  it('keeps what is allowed and fills in defaults', () => {
    expect(flat([review], { depth: 2 })).toEqual({ depth: 2, language: 'ru' });
    expect(flat([review], {})).toEqual({ language: 'ru' });
  });

  it.each<[ParameterSchema, Scalar, Scalar]>([
    [{ type: 'integer', minimum: 1, maximum: 5 }, 9, 5],
    [{ type: 'integer', minimum: 1, maximum: 5 }, -3, 1],
    [{ type: 'integer', minimum: 1, maximum: 5 }, 2.4, 2],
    [{ type: 'integer', minimum: 1.2, maximum: 4.8 }, 1, 2],
    [{ type: 'integer', minimum: 1.2, maximum: 4.8 }, 4.9, 4],
    [{ type: 'integer' }, 1e300, Number.MAX_SAFE_INTEGER],
    [{ type: 'number', minimum: 0.5, maximum: 1.5 }, 2, 1.5],
    [{ type: 'number', enum: [1, 4, 10], default: 1 }, 9, 10],
    [{ type: 'string', enum: ['a', 'b'], default: 'b' }, 'c', 'b'],
    [{ type: 'string', enum: ['a', 'b'] }, 'c', 'a'],
    [{ type: 'string', pattern: '[a-z]+', default: 'x' }, 'NO', 'x'],
    [{ type: 'integer', minimum: 1, maximum: 5, default: 3 }, '4', 3],
    [{ type: 'boolean', default: false }, 'true', false],
    [{ type: 'string', enum: ['on'] }, true, 'on'],
  ])('offers the nearest allowed value (%#)', (schema, wish, nearest) => {
    const capabilities = [capability('c', { p: schema })];
    const resolved = resolveParameters(capabilities, { p: wish });
    expect(flattenParameters(capabilities, resolved.values)).toEqual({ p: nearest });
    expect(resolved.changed.map(({ name, code }) => [name, code])).toEqual([['c/p', 'parameter_not_allowed']]);
  });

  it('knows no negative zero, which does not travel', () => {
    const zero = capability('c', { p: { type: 'number', default: -0 } });
    expect(flat([zero], { p: -0 })).toEqual({ p: 0 });
    expect(flat([zero], {})).toEqual({ p: 0 });
  });

  it.each<[ParameterSchema, Scalar]>([
    [{ type: 'string', pattern: '[a-z]+' }, 'NO'],
    [{ type: 'boolean' }, 'true'],
    [{ type: 'integer', minimum: 1, maximum: 5 }, 'many'],
    [{ type: 'number', enum: [7], maximum: 5 }, 7],
  ])('names a value for which there is no allowed one (%#)', (schema, wish) => {
    const { impossible, values } = resolveParameters([capability('c', { p: schema })], { p: wish });
    expect(impossible.map(({ name }) => name)).toEqual(['c/p']);
    expect(values.get('c')?.size).toBe(0);
  });

  it('names what a schema needs', () => {
    const needing = capability('c', { p: { type: 'string', required: true }, q: { type: 'string' } });
    expect(resolveParameters([needing], {}).missing.map(({ name }) => name)).toEqual(['c/p']);
    expect(resolveParameters([needing], { 'c/p': 'x' }).missing).toEqual([]);
  });

  it('leaves out and names what nobody declares', () => {
    const given = { tone: 'rude', 'other/language': 'ru', 'code_review/tone': 'rude', toString: 'x' };
    const { unsupported, values } = resolveParameters([review], given);
    expect([...unsupported].sort()).toEqual(['code_review/tone', 'other/language', 'toString', 'tone']);
    expect(values.get('code_review')).toEqual(new Map([['language', 'ru']]));
  });

  it('asks a bare name of every capability that declares it, and lets capability/name go before', () => {
    const translate = capability('text/translate', { language: { type: 'string', enum: ['de', 'fr', 'ru'] } });
    const both = [review, translate];
    expect(flat(both, { language: 'de' })).toEqual({ language: 'de' });
    expect(flat(both, { language: 'de', 'text/translate/language': 'fr' })).toEqual({
      'code_review/language': 'de',
      'text/translate/language': 'fr',
    });
    // Allowed by one of them only: moved to a value that suits both.
    const moved = resolveParameters(both, { language: 'fr' });
    expect(flattenParameters(both, moved.values)).toEqual({ language: 'ru' });
    expect(moved.changed.map(({ name }) => name).sort()).toEqual(['code_review/language', 'text/translate/language']);
  });

  it('gives each capability its own value when no value suits all', () => {
    const other = capability('other', { language: { type: 'string', enum: ['fr'] } });
    expect(flat([review, other], { language: 'ru' })).toEqual({ 'code_review/language': 'ru', 'other/language': 'fr' });
  });

  it('does not use the plain name when a capability that declares it has no value', () => {
    const optional = capability('other', { language: { type: 'string', enum: ['fr'] } });
    expect(flat([review, optional], { 'code_review/language': 'de' })).toEqual({ 'code_review/language': 'de' });
  });

  it('knows the declared keys', () => {
    expect(declaredKeys([review])).toEqual(['code_review/language', 'code_review/depth']);
    expect(undeclaredKeys([review], ['language', 'code_review/depth', 'tone', 'x/depth'])).toEqual(['tone', 'x/depth']);
  });
});

const text = fc.constantFrom('a', 'b', 'c', 'zz', '');
const integer = fc.integer({ min: -10, max: 10 });
const double = fc.double({ min: -10, max: 10, noNaN: true });
const wish: fc.Arbitrary<Scalar> = fc.oneof(text, integer, double, fc.boolean());

const schema: fc.Arbitrary<ParameterSchema> = fc
  .record(
    {
      type: fc.constantFrom('string', 'number', 'integer', 'boolean'),
      texts: fc.uniqueArray(text, { maxLength: 3 }),
      numbers: fc.uniqueArray(integer, { maxLength: 3 }),
      bounds: fc.tuple(double, double),
      required: fc.boolean(),
      pattern: fc.constantFrom('[a-c]', '.*', 'z+'),
      fallback: wish,
    },
    { requiredKeys: ['type'] },
  )
  .map(({ type, texts, numbers, bounds, required, pattern, fallback }): ParameterSchema => {
    const numeric = type === 'number' || type === 'integer';
    const base: ParameterSchema = {
      type,
      ...(type === 'string' && texts !== undefined ? { enum: texts } : {}),
      ...(type === 'string' && pattern !== undefined ? { pattern } : {}),
      ...(numeric && numbers !== undefined ? { enum: numbers } : {}),
      ...(numeric && bounds !== undefined ? { minimum: Math.min(...bounds), maximum: Math.max(...bounds) } : {}),
      ...(required === undefined ? {} : { required }),
    };
    // As a manifest is checked: a default satisfies its own schema.
    return fallback !== undefined && parameterFault(base, fallback) === undefined
      ? { ...base, default: fallback }
      : base;
  });

const names = fc.constantFrom('p', 'q', 'r', 'toString');
const capabilityList = fc
  .dictionary(fc.constantFrom('a', 'b/c', 'd'), fc.dictionary(names, schema, { maxKeys: 3 }), {
    minKeys: 1,
    maxKeys: 3,
  })
  .map((offered) => {
    const details = Object.entries(offered).map(([name, parameters]) => [name, { parameters }] as const);
    const match = matchCapabilities(Object.keys(offered), new Map(details));
    return 'matched' in match ? match.matched : [];
  });
const keys = fc.oneof(
  names,
  fc.tuple(fc.constantFrom('a', 'b/c', 'd', 'x'), names).map((parts) => parts.join('/')),
);
const givenMap = fc.dictionary(keys, wish, { maxKeys: 6 });

describe('whatever is proposed', () => {
  it('leads to values that satisfy their schemas, and to nothing that is not declared', () => {
    fc.assert(
      fc.property(capabilityList, givenMap, (capabilities, given) => {
        const { values, unsupported } = resolveParameters(capabilities, given);
        for (const { name, parameters } of capabilities) {
          for (const [parameter, value] of values.get(name) ?? []) {
            const declared = parameters.get(parameter);
            expect(declared).toBeDefined();
            if (declared !== undefined) expect(parameterFault(declared, value)).toBeUndefined();
          }
        }
        const flatKeys = Object.keys(flattenParameters(capabilities, values));
        for (const key of unsupported) expect(flatKeys).not.toContain(key);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is acceptable when the answer is proposed back', () => {
    fc.assert(
      fc.property(capabilityList, givenMap, (capabilities, given) => {
        const first = resolveParameters(capabilities, given);
        fc.pre(first.missing.length === 0 && first.impossible.length === 0);
        const back = resolveParameters(capabilities, flattenParameters(capabilities, first.values));
        expect(back.changed).toEqual([]);
        expect(back.missing).toEqual([]);
        expect(back.impossible).toEqual([]);
        expect(back.unsupported).toEqual([]);
        expect(back.values).toEqual(first.values);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is kept as it was wished when it is allowed', () => {
    fc.assert(
      fc.property(capabilityList, givenMap, (capabilities, given) => {
        const { values, changed } = resolveParameters(capabilities, given);
        for (const { name, parameters } of capabilities) {
          for (const parameter of parameters.keys()) {
            const asked = Object.hasOwn(given, `${name}/${parameter}`) ? given[`${name}/${parameter}`] : undefined;
            if (asked === undefined || changed.some((item) => item.name === `${name}/${parameter}`)) continue;
            const got = values.get(name)?.get(parameter);
            if (got !== undefined) expect(got).toBe(asked);
          }
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
