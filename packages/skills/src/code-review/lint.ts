import type { Linter } from 'eslint';
import { stopIfAborted } from '../checkpoint.js';
import type { Attempt } from './attempts.js';
import { CORE_RULES, type ReviewRule } from './core-rules.js';
import { boundedMessage, type Finding, type SourceLanguage } from './findings.js';
import { KNOWN_GLOBALS } from './known-globals.js';
import { OWN_RULES, ownRules, positionKey, type Observations } from './own-rules.js';
import { runWithin } from './time-limit.js';

/** What linting one source came to. */
export interface LintResult {
  readonly language: SourceLanguage;
  readonly findings: readonly Finding[];
  readonly functions: number;
  readonly maxComplexity: number;
}

export interface LintOptions {
  /** Tried in order until one parses; at least one. */
  readonly attempts: readonly Attempt[];
  readonly signal: AbortSignal;
  /** For all attempts together, in milliseconds. */
  readonly limitMs: number;
  /** Milliseconds, from any origin. */
  readonly now: () => number;
}

/**
 * Runs ESLint over a source without touching the disk and without running a line of it. A syntax error, code nested
 * too deeply for the parser and code that takes too long are findings.
 *
 * The event loop stands still for as long as the run takes, `limitMs` at the most.
 */
export async function lint(source: string, options: LintOptions): Promise<LintResult> {
  const tools = await loadTools(options.attempts.some(({ language }) => language === 'typescript'));
  stopIfAborted(options.signal);

  const deadline = options.now() + options.limitMs;
  let furthest: LintResult | undefined;
  for (const attempt of options.attempts) {
    const outcome = lintOnce(source, attempt, tools, deadline - options.now());
    if (outcome.kind !== 'syntax_error') return outcome.result;
    if (furthest === undefined || isFurther(outcome.result, furthest)) furthest = outcome.result;
    stopIfAborted(options.signal);
  }
  if (furthest === undefined) throw new Error('There was no way to try.');
  return furthest;
}

interface Tools {
  readonly linter: typeof Linter;
  readonly typescriptParser: Linter.Parser | undefined;
}

/** ESLint takes a tenth of a second to load and the TypeScript parser half a second: only who reviews pays. */
async function loadTools(withTypescript: boolean): Promise<Tools> {
  const { Linter: linter } = await import('eslint/universal');
  const typescriptParser = withTypescript ? await import('@typescript-eslint/parser') : undefined;
  return { linter, typescriptParser };
}

interface Outcome {
  readonly kind: 'linted' | 'syntax_error' | 'given_up';
  readonly result: LintResult;
}

function lintOnce(source: string, attempt: Attempt, tools: Tools, limitMs: number): Outcome {
  const seen: Observations = { functions: 0, maxComplexity: 0, typeOnlyNames: new Set() };
  const result = (findings: readonly Finding[]): LintResult => ({
    language: attempt.language,
    findings,
    functions: seen.functions,
    maxComplexity: seen.maxComplexity,
  });
  const givenUp = (message: string): Outcome => ({ kind: 'given_up', result: result([notAnalysed(message)]) });
  if (limitMs <= 0) return givenUp(OUT_OF_TIME);
  try {
    const limited = runWithin(limitMs, () =>
      new tools.linter({ configType: 'flat' }).verify(source, [configFor(attempt, tools, seen)], {
        filename: attempt.filename,
        // Whoever wrote the source does not decide what is said about it.
        allowInlineConfig: false,
      }),
    );
    if (limited.kind === 'out_of_time') return givenUp(OUT_OF_TIME);
    const fatal = limited.value.find((message) => message.fatal === true);
    if (fatal === undefined) return { kind: 'linted', result: result(toFindings(limited.value, attempt, seen)) };
    if (isStackOverflow(fatal.message)) return givenUp(TOO_DEEP);
    return { kind: 'syntax_error', result: result([syntaxError(fatal)]) };
  } catch (error) {
    // A rule's visitor may overflow the stack after the parser got through, or trip over code nobody thought of.
    const text = error instanceof Error ? error.message : '';
    if (isStackOverflow(text)) return givenUp(TOO_DEEP);
    if (text.includes('Occurred while linting')) return givenUp(RULE_FAILED);
    throw error;
  }
}

const OUT_OF_TIME = 'The analysis took too long and was broken off.';
const TOO_DEEP = 'The code is nested too deeply to be analysed.';
const RULE_FAILED = 'The analysis failed on this code.';

function isStackOverflow(message: string): boolean {
  return /call stack|stack space/i.test(message);
}

function configFor(attempt: Attempt, tools: Tools, seen: Observations): Linter.Config {
  const core = CORE_RULES.filter(({ only }) => only === undefined || only === attempt.language);
  const own = Object.keys(OWN_RULES).map((name): [string, Linter.RuleEntry] => [name, 'warn']);
  const isTypescript = attempt.language === 'typescript';
  return {
    files: [attempt.filename],
    plugins: { parley: { rules: ownRules(seen) } },
    linterOptions: { reportUnusedDisableDirectives: 'off' },
    languageOptions: {
      sourceType: attempt.sourceType,
      globals: KNOWN_GLOBALS,
      parserOptions: isTypescript
        ? { loggerFn: false, warnOnUnsupportedTypeScriptVersion: false }
        : { ecmaFeatures: { jsx: true } },
      ...(isTypescript && tools.typescriptParser !== undefined ? { parser: tools.typescriptParser } : {}),
    },
    rules: Object.fromEntries([
      ...core.map(({ rule, options = [] }): [string, Linter.RuleEntry] => [rule, ['warn', ...options]]),
      ...own,
      ...(isTypescript ? [['parley/type-only-names', 'warn'] as const] : []),
    ]),
  };
}

type Advice = Pick<ReviewRule, 'severity' | 'suggestion'>;

const ADVICE: ReadonlyMap<string, Advice> = new Map<string, Advice>([
  ...CORE_RULES.map((rule) => [rule.rule, rule] as const),
  ...Object.entries(OWN_RULES),
]);

function toFindings(messages: readonly Linter.LintMessage[], attempt: Attempt, seen: Observations): Finding[] {
  return messages.flatMap((message) => {
    const rule = message.ruleId ?? '';
    const known = ADVICE.get(rule);
    if (known === undefined) throw new Error(`ESLint says what no rule here does: ${message.message}`);
    const { line, column } = message;
    const isTypeOnly = attempt.language === 'typescript' && seen.typeOnlyNames.has(positionKey(line, column));
    if (rule === 'no-unused-vars' && isTypeOnly) return [];
    const { severity, suggestion } = known;
    const base = { line, column, severity, rule, message: boundedMessage(withoutPattern(message.message)) };
    return [suggestion === undefined ? base : { ...base, suggestion }];
  });
}

/** How a name could have escaped the rule is said by the suggestion, in words. */
function withoutPattern(message: string): string {
  return message.replace(/ Allowed unused [^]* must match [^]*$/, '');
}

function syntaxError(fatal: Linter.LintMessage): Finding {
  return {
    line: Math.max(1, fatal.line),
    column: Math.max(1, fatal.column),
    severity: 'error',
    rule: 'parley/syntax-error',
    message: boundedMessage(fatal.message.replace(/^Parsing error: /, '')),
    suggestion: 'Nothing else can be said about the code until it parses.',
  };
}

function notAnalysed(message: string): Finding {
  return {
    line: 1,
    column: 1,
    severity: 'error',
    rule: 'parley/not-analysed',
    message,
    suggestion: 'Split the code, or review what it was generated from.',
  };
}

/** The reading that got further before it failed is more likely the one that was meant. */
function isFurther(candidate: LintResult, best: LintResult): boolean {
  const [a] = candidate.findings;
  const [b] = best.findings;
  if (a === undefined || b === undefined) return false;
  return a.line > b.line || (a.line === b.line && a.column > b.column);
}
