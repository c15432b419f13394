import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from '@parley/service-kit';
import * as api from './index.js';
import { codeReview, skillsByName, summarize, translate } from './index.js';

const refusalOf = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

describe('skillsByName', () => {
  it('gives the skills in the order of their names, each once', () => {
    expect(skillsByName(['code_review', 'translate', 'code_review'])).toEqual([codeReview, translate]);
    expect(skillsByName(['summarize'])).toEqual([summarize]);
    expect(skillsByName([])).toEqual([]);
  });

  it.each([['paint'], ['__proto__'], [''], ['Translate']])('refuses %p, naming what there is', (name) => {
    expect(refusalOf(() => skillsByName(['translate', name]))).toMatchObject({
      reason: 'invalid_request',
      code: 'unknown_skill',
      message: `No such skill: ${JSON.stringify(name)}. There are translate, summarize, code_review.`,
    });
  });
});

describe('every skill', () => {
  const skills = skillsByName(['translate', 'summarize', 'code_review']);

  it.each(skills.map((skill) => [skill.capability, skill] as const))(
    '%s declares a version, a description and parameters that hold together',
    (_name, { detail }) => {
      expect(detail.version).toBe('1.0.0');
      expect(detail.description).toMatch(/\w.*\.$/);
      for (const [name, schema] of Object.entries(detail.parameters ?? {})) {
        expect(name).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
        expect(schema.description).toBeTruthy();
        expect(schema.required === true).toBe(schema.default === undefined);
        if (schema.enum !== undefined && schema.default !== undefined) expect(schema.enum).toContain(schema.default);
      }
    },
  );

  it.each(skills.map((skill) => [skill.capability, skill] as const))(
    '%s refuses input of another shape, also when its own check is left to it',
    async (_name, skill) => {
      const context = { parameters: { target_language: 'de' }, signal: new AbortController().signal };
      for (const input of [undefined, null, 'text', {}, { text: 1, source: 1 }, { text: 'a', source: 'a', extra: 1 }]) {
        expect(refusalOf(() => validate(skill.input, input))).toMatchObject({ reason: 'invalid_request' });
        await expect(skill.run(input, context)).rejects.toMatchObject({ reason: 'invalid_request' });
      }
    },
  );

  it.each(skills.map((skill) => [skill.capability, skill] as const))(
    '%s stops when it is aborted',
    async (_name, skill) => {
      const input = skill.capability === 'code_review' ? { source: 'let a;' } : { text: 'A word.' };
      const parameters = { target_language: 'de' };
      await expect(skill.run(input, { parameters, signal: AbortSignal.abort() })).rejects.toMatchObject({
        reason: 'cancelled',
      });
      const controller = new AbortController();
      const running = skill.run(input, { parameters, signal: controller.signal });
      controller.abort();
      await expect(running).rejects.toMatchObject({ reason: 'cancelled' });
    },
  );
});

describe('the package', () => {
  it('exports what its readme promises', () => {
    expect(Object.keys(api)).toEqual(
      expect.arrayContaining([
        'summarize',
        'codeReview',
        'translate',
        'skillsByName',
        'createCodeReview',
        'defineSkill',
      ]),
    );
  });

  it('loads the linter and its parsers only when code is reviewed', () => {
    const root = import.meta.dirname;
    const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    expect(sources.length).toBeGreaterThan(20);
    for (const name of sources) {
      expect(readFileSync(join(root, name), 'utf8')).not.toMatch(
        /^(?:import|export) (?!type )[^;]*from '(?:eslint|typescript|@typescript-eslint)/m,
      );
    }
  });
});
