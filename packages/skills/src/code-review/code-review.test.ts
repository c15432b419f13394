import type { Scalar, Skill } from '@parley/agent';
import { compileSkills, reviewInChild } from '../subagents/review-in-child.test-helper.js';
import { codeReview, createCodeReview, MAX_REVIEW_BYTES } from './code-review.js';
import type { Finding, Metrics, Verdict } from './findings.js';
import { reviewOutput } from './review-output.js';

interface Review {
  readonly findings: readonly Finding[];
  readonly counts: Readonly<Record<'error' | 'warning' | 'info', number>>;
  readonly metrics: Metrics;
  readonly verdict: Verdict;
  readonly summary: string;
  readonly truncated: boolean;
  readonly language: string;
  readonly offline: boolean;
}

type Reviewer = (source: string, parameters?: Record<string, Scalar>, filename?: string) => Promise<Review>;

function reviewer(skill: () => Skill): Reviewer {
  return async (source, parameters = {}, filename) => {
    const input = filename === undefined ? { source } : { source, filename };
    const output = await skill().run(input, { parameters, signal: new AbortController().signal });
    expect(reviewOutput.parse(output)).toEqual(output);
    return output as unknown as Review;
  };
}

const rulesOf = ({ findings }: Review): string[] => findings.map(({ rule }) => rule);

const GOOD = `import { readFile } from 'node:fs/promises';

export async function read(path) {
  const text = await readFile(path, 'utf8');
  return text.trim();
}
`;

const PLACES: readonly (readonly [string, () => Skill])[] = [
  ['in the same process', () => codeReview],
  ['in a child process', () => reviewInChild()],
];

describe.each(PLACES)('code_review %s', (place, open) => {
  let skill: Skill;
  const review = reviewer(() => skill);

  beforeAll(async () => {
    if (place === 'in a child process') await compileSkills();
    skill = open();
    // A process takes a while to come up where many others do at the same time.
    await skill.prepare?.();
  }, 300_000);

  afterAll(async () => {
    await skill.close?.();
  });

  it('can be prepared, any number of times, and reviews as before', async () => {
    const before = await review(GOOD);
    await skill.prepare?.();
    await skill.prepare?.();
    expect(await review(GOOD)).toEqual(before);
  });

  it('approves good code', async () => {
    expect(await review(GOOD)).toEqual({
      findings: [],
      counts: { error: 0, warning: 0, info: 0 },
      metrics: { lines: 6, functions: 1, max_complexity: 1 },
      verdict: 'approve',
      summary: 'No errors, no warnings and no remarks in 6 lines of JavaScript: nothing stands against it.',
      truncated: false,
      language: 'javascript',
      offline: true,
    });
  });

  it('says where, how bad, by which rule, and what to do', async () => {
    const { findings, verdict, counts } = await review('const a = 1;\nif (a == 2) eval("a");\n');
    expect(findings).toEqual([
      {
        line: 2,
        column: 7,
        severity: 'warning',
        rule: 'eqeqeq',
        message: "Expected '===' and instead saw '=='.",
        suggestion: 'Use === and !==.',
      },
      {
        line: 2,
        column: 13,
        severity: 'error',
        rule: 'no-eval',
        message: '`eval` can be harmful.',
        suggestion: 'Parse the data, or look functions up in a table.',
      },
    ]);
    expect(counts).toEqual({ error: 1, warning: 1, info: 0 });
    expect(verdict).toBe('request_changes');
  });

  it.each([
    ['no-undef', 'export const a = missing;'],
    ['no-unused-vars', 'const unused = 1;'],
    ['no-constant-condition', 'if (true) { run(); }'],
    ['no-fallthrough', 'switch (self.a) { case 1: fetch(1); case 2: fetch(2); }'],
    ['no-unreachable', 'export function f() { return 1; f(); }'],
    ['no-self-compare', 'export const f = (a) => a === a;'],
    ['no-unsafe-finally', 'export function f() { try { f(); } finally { return 1; } }'],
    ['no-await-in-loop', 'export async function f(all) { for (const a of all) await a(); }'],
    ['require-atomic-updates', 'let a = 0; export async function f(b) { a += await b(); }'],
    ['no-implied-eval', 'setTimeout("run()", 1);'],
    ['no-new-func', 'export const f = new Function("return 1");'],
    ['no-empty', 'if (self.a) {}'],
    ['no-async-promise-executor', 'export const p = new Promise(async () => {});'],
    ['max-depth', 'if (self.a) { if (self.b) { if (self.c) { if (self.d) { if (self.e) { fetch(1); } } } } }'],
    ['max-lines', 'fetch(1);\n'.repeat(401)],
    ['max-lines-per-function', `export function f() {\n${'fetch(1);\n'.repeat(81)}}`],
    ['no-console', 'console.log(1);'],
    ['no-warning-comments', '// TODO: later'],
    ['parley/complexity', `export function f(a) { ${'if (a) f(a);'.repeat(11)} }`],
    ['parley/empty-catch', 'try { fetch(1); } catch { }'],
    ['parley/long-line', `// ${'x'.repeat(200)}`],
    ['parley/no-explicit-any', 'export const a: any = 1;'],
    ['parley/no-ts-ignore', '// @ts-ignore\nexport const a: number = 1;'],
  ])('finds %s', async (rule, source) => {
    expect(rulesOf(await review(source))).toContain(rule);
  });

  it.each([
    ['an error that is logged', 'console.error(1);'],
    ['an endless loop on purpose', 'while (true) { if (Math.random() > 0.5) break; }'],
    ['a catch that says why', 'try { fetch(1); } catch { /* Nobody waits for it. */ }'],
    ['a comparison with null', 'export const f = (a) => a == null;'],
    ['names that begin with _', 'export const f = (_a, b) => b;'],
    ['the word todo in prose', '// Puts an entry into the todo list.'],
    ['globals of browsers, Node and test runners', 'it("a", () => { expect(window ?? process).toBe(document); });'],
  ])('leaves %s alone', async (_name, source) => {
    expect((await review(source)).findings).toEqual([]);
  });

  it('is not silenced by comments in the source', async () => {
    const source = [
      '/* eslint-disable */',
      '/* eslint no-eval: off, no-debugger: 0 */',
      'eval("1"); // eslint-disable-line',
      '// eslint-disable-next-line no-debugger',
      'debugger;',
    ].join('\n');
    expect(rulesOf(await review(source))).toEqual(['no-eval', 'no-debugger']);
  });

  it('never runs the source', async () => {
    const name = 'reviewedCodeWasRun';
    await review(`globalThis.${name} = true; throw new Error('run'); import('node:fs'); process.exit(3);`);
    expect(name in globalThis).toBe(false);
  });

  describe('in TypeScript', () => {
    const source = `import type { A } from './a.js';
export type F = (unused: string) => void;
export interface I { method(unused: number): void; new (unused: A): I }
export abstract class C { constructor(private readonly field: string) {} abstract m(unused: number): void }
export function over(a: string): void;
export function over(a: number): void;
export function over(a: unknown): void { fetch(a); }
export declare function declared(unused: string): void;
export enum E { One, Two }
export type U<T> = T extends (infer V)[] ? 1 : NodeJS.Timeout;
declare global { interface Window { extra: string } }
`;

    it('takes declarations for what they are', async () => {
      expect((await review(source)).findings).toEqual([]);
    });

    it('still finds what is really unused', async () => {
      const { findings } = await review(`${source}function idle(a: string, b: string): string { return a; }\n`);
      expect(findings.map(({ rule, message }) => [rule, message])).toEqual([
        ['no-unused-vars', "'idle' is defined but never used."],
        ['no-unused-vars', "'b' is defined but never used."],
      ]);
    });

    it.each([
      ['generics and casts', 'export const f = <T>(a: T): T => <T>a;', undefined],
      ['JSX', 'export const f = (a: string) => <p className={a}>hi</p>;', undefined],
      ['JSX by its name', 'export const F = <T,>(a: T) => <p>{String(a)}</p>;', 'f.tsx'],
      ['decorators', 'export class A { @field name = 1 as number; }\ndeclare const field: never;', undefined],
    ])('reads %s', async (_name, code, filename) => {
      const { language, findings } = await review(code, {}, filename);
      expect(language).toBe('typescript');
      expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    });
  });

  it.each([
    ['javascript', 'const a = 1; export default a;', {}, undefined],
    ['typescript', 'const a: number = 1; export default a;', {}, undefined],
    ['typescript', 'export const a = 1;', {}, 'src/A.TS'],
    ['javascript', 'export const a = 1;', {}, 'a.jsx'],
    ['typescript', 'export const a = 1;', { language: 'typescript' }, 'a.js'],
    ['javascript', 'const a: number = 1;', { language: 'javascript' }, 'a.ts'],
    ['javascript', 'with (self) { fetch(1); }', {}, undefined],
    ['javascript', 'return 1;', {}, 'a.cjs'],
    ['javascript', 'export const F = () => <p>hi</p>;', {}, undefined],
  ])('takes for %s: %s', async (expected, source, parameters, filename) => {
    expect((await review(source, parameters, filename)).language).toBe(expected);
  });

  it.each([
    ['broken code', 'function (', {}],
    ['TypeScript that is told to be JavaScript', 'const a: number = 1;', { language: 'javascript' }],
    ['prose', 'This is no code, is it?', {}],
    ['a lone surrogate', '\ud800', {}],
    ['an unfinished template', '`${', { language: 'typescript' }],
  ])('calls %s a finding', async (_name, source, parameters) => {
    const { findings, verdict, metrics } = await review(source, parameters);
    expect(findings).toMatchObject([{ severity: 'error', rule: 'parley/syntax-error' }]);
    expect(verdict).toBe('request_changes');
    expect(metrics).toEqual({ lines: 1, functions: 0, max_complexity: 0 });
  });

  it('points at the error of the reading that got furthest', async () => {
    const { findings, language } = await review('const a: number = 1;\nconst b: string = ;\n');
    expect(language).toBe('typescript');
    expect(findings).toMatchObject([{ line: 2, column: 18, message: 'Expression expected.' }]);
  });

  it('looks for secrets also in what does not parse', async () => {
    const token = ['ghp', '_', 'a1B2'.repeat(9)].join('');
    expect(rulesOf(await review(`const token = "${token}\n`))).toContain('parley/hardcoded-secret');
  });

  it.each([
    ['parentheses', '('],
    ['arrays', '['],
    ['blocks', '{'],
    ['arrow functions', 'x=>'],
    ['branches', 'if(a)'],
    ['operators', 'a+'],
    ['members', 'a.b['],
    ['types', 'let a:A<'],
  ])('calls %s nested without end too deep', async (_name, piece) => {
    const source = piece.repeat(MAX_REVIEW_BYTES / piece.length);
    for (const language of ['javascript', 'typescript']) {
      const { findings } = await review(source, { language });
      expect(findings.find(({ rule }) => rule !== 'parley/long-line')).toMatchObject({
        severity: 'error',
        rule: expect.stringMatching(/^parley\/(?:not-analysed|syntax-error)$/) as string,
      });
    }
  });

  it('shows what it is asked to show, and counts everything', async () => {
    const source = `console.log(1);\n${'eval("1");\n'.repeat(3)}if (self.a == 1) debugger;\n`;
    const all = await review(source);
    expect(all.counts).toEqual({ error: 4, warning: 1, info: 1 });
    expect(all.findings).toHaveLength(6);

    const errors = await review(source, { severity: 'error' });
    expect(errors.findings.map(({ severity }) => severity)).toEqual(['error', 'error', 'error', 'error']);
    expect(errors).toMatchObject({ counts: all.counts, truncated: false });

    const two = await review(source, { max_findings: 2 });
    expect(two.findings.map(({ line }) => line)).toEqual([2, 3]);
    expect(two).toMatchObject({ counts: all.counts, truncated: true, verdict: 'request_changes' });
  });

  it('measures functions by the ways through them', async () => {
    const source = `
export function a(x, y = 1) { if (x && y) return 1; for (const z of x) { a(z); } return x ? 2 : 3; }
export const b = (x) => { switch (x) { case 1: return 1; case 2: return 2; default: return 3; } };
export class C { m(x) { x ??= 1; try { this.m(x); } catch (error) { fetch(error); } } }
`;
    expect((await review(source)).metrics).toEqual({ lines: 4, functions: 3, max_complexity: 5 });
  });

  it('says the same each time', async () => {
    const source = `var a = 1; if (a == 2) { eval(a) } ${'var b;'.repeat(50)}`;
    expect(await review(source)).toEqual(await review(source));
  });

  it.each([
    ['nothing', ''],
    ['white space', ' \n\r\n'],
    ['emoji', 'export const a = "😀";'],
    ['a byte order mark', '\ufeffexport const a = 1;'],
    ['a shebang', '#!/usr/bin/env node\nprocess.exitCode = 1;'],
  ])('has nothing to say about %s', async (_name, source) => {
    expect((await review(source)).findings).toEqual([]);
  });

  it('counts lines that end with CRLF once', async () => {
    const { findings, metrics } = await review('fetch(1);\r\ndebugger;\r\n');
    expect(metrics.lines).toBe(2);
    expect(findings).toMatchObject([{ line: 2, column: 1, rule: 'no-debugger' }]);
  });

  it('keeps messages short and valid, however long the names in the source are', async () => {
    const { findings } = await review(`const ${'a'.repeat(40_000)} = 1;`);
    expect(findings.length).toBeGreaterThan(0);
    expect(findings.every(({ message }) => message.length <= 300 && message.isWellFormed())).toBe(true);
  });

  it.each([{ severity: 'fatal' }, { max_findings: 0 }, { max_findings: 201 }, { language: 'python' }])(
    'refuses the parameters %p',
    async (parameters) => {
      await expect(review(GOOD, parameters)).rejects.toMatchObject({ reason: 'invalid_request' });
    },
  );
});

describe('code_review with limits of its own', () => {
  it('breaks off an analysis that takes too long, also in the middle of parsing', async () => {
    const impatient = createCodeReview({ limitMs: 50 });
    // Each further level doubles the parser's work.
    const source = 'async('.repeat(200);
    const { findings, verdict } = await reviewer(() => impatient)(source, { language: 'typescript' });
    expect(findings).toMatchObject([
      { rule: 'parley/not-analysed', message: 'The analysis took too long and was broken off.' },
      { rule: 'parley/long-line' },
    ]);
    expect(verdict).toBe('request_changes');
    // What was broken off leaves nothing behind.
    expect((await reviewer(() => impatient)('export const a: number = 1;')).verdict).toBe('approve');
  });

  it('does not begin another attempt when the time is used up', async () => {
    let time = 0;
    const skill = createCodeReview({ limitMs: 1_000, now: () => (time += 600) });
    expect(rulesOf(await reviewer(() => skill)('const a: = 1;'))).toEqual(['parley/not-analysed']);
  });

  it.each([
    [
      'functions',
      'export async function f$(a, b) { if (a == b) { await a(); } else { try { b(); } catch (e) { } } }\n',
    ],
    ['variables', 'var a$ = 1;\n'],
    ['one line', 'fetch($);'],
  ])('reviews the largest source made of %s', async (_name, line) => {
    let source = '';
    for (let count = 0; source.length + 200 < MAX_REVIEW_BYTES; count += 1) source += line.replace('$', String(count));
    const patient = createCodeReview({ limitMs: 60_000 });
    const { findings, truncated, metrics } = await reviewer(() => patient)(source, { max_findings: 200 });
    expect(findings.length).toBeLessThanOrEqual(200);
    expect(rulesOf({ findings } as Review)).not.toContain('parley/not-analysed');
    expect(truncated).toBe(findings.length === 200);
    expect(metrics.lines).toBe(source.split('\n').length - (source.endsWith('\n') ? 1 : 0));
  });

  it('takes 48 KiB of UTF-8 together with the file name, and no more', () => {
    const accepts = (input: unknown): boolean => codeReview.input.safeParse(input).success;
    expect(accepts({ source: 'x'.repeat(MAX_REVIEW_BYTES) })).toBe(true);
    expect(accepts({ source: 'x'.repeat(MAX_REVIEW_BYTES + 1) })).toBe(false);
    expect(accepts({ source: 'x'.repeat(MAX_REVIEW_BYTES - 4), filename: 'a.js' })).toBe(true);
    expect(accepts({ source: 'x'.repeat(MAX_REVIEW_BYTES - 3), filename: 'a.js' })).toBe(false);
    expect(accepts({ source: 'я'.repeat(MAX_REVIEW_BYTES / 2) })).toBe(true);
    expect(accepts({ source: 'я'.repeat(MAX_REVIEW_BYTES / 2 + 1) })).toBe(false);
    expect(accepts({ source: 'x', filename: '' })).toBe(false);
    expect(accepts({ source: 'x', filename: 'x'.repeat(256) })).toBe(false);
  });

  it('hands out nothing when it was aborted while the linter held the event loop', async () => {
    const controller = new AbortController();
    let calls = 0;
    const skill = createCodeReview({
      now: () => {
        calls += 1;
        if (calls === 2) controller.abort();
        return 0;
      },
    });
    const running = skill.run({ source: GOOD }, { parameters: {}, signal: controller.signal });
    await expect(running).rejects.toMatchObject({ reason: 'cancelled' });
    expect(calls).toBe(2);
  });
});
