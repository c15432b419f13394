import type { Severity, SourceLanguage } from './findings.js';

/** One rule of ESLint's core as this reviewer uses it. */
export interface ReviewRule {
  readonly rule: string;
  readonly severity: Severity;
  readonly suggestion?: string;
  readonly options?: readonly unknown[];
  /** Default: both languages. Some rules take TypeScript's declarations for mistakes. */
  readonly only?: SourceLanguage;
}

const error = (rule: string, suggestion?: string, more: Partial<ReviewRule> = {}): ReviewRule =>
  made(rule, 'error', suggestion, more);
const warning = (rule: string, suggestion?: string, more: Partial<ReviewRule> = {}): ReviewRule =>
  made(rule, 'warning', suggestion, more);
const info = (rule: string, suggestion?: string, more: Partial<ReviewRule> = {}): ReviewRule =>
  made(rule, 'info', suggestion, more);

function made(rule: string, severity: Severity, suggestion: string | undefined, more: Partial<ReviewRule>): ReviewRule {
  return { rule, severity, ...(suggestion === undefined ? {} : { suggestion }), ...more };
}

const JAVASCRIPT_ONLY = { only: 'javascript' } as const;

/** What breaks, or does something else than it says. */
const BUGS: readonly ReviewRule[] = [
  error('constructor-super'),
  error('for-direction', 'Let the counter move towards the limit.'),
  error('getter-return', 'Return a value from the getter.'),
  error('no-async-promise-executor', 'Do the awaiting outside of the Promise constructor; what it throws is lost.'),
  error('no-class-assign'),
  error('no-compare-neg-zero', 'Use Object.is(x, -0).'),
  error('no-cond-assign', 'Write === if a comparison was meant.'),
  error('no-const-assign', 'Declare it with let, or give the new value another name.'),
  warning('no-constant-binary-expression', 'One side never counts; check the operators and their order.'),
  warning('no-constant-condition', 'Take the dead branch out, or test what was meant.', {
    options: [{ checkLoops: 'allExceptWhileTrue' }],
  }),
  warning('no-constructor-return'),
  warning('no-control-regex'),
  error('no-debugger', 'Remove it before merging.'),
  error('no-delete-var'),
  error('no-dupe-args'),
  error('no-dupe-class-members', 'Remove one of the two; the later one wins.', JAVASCRIPT_ONLY),
  error('no-dupe-else-if', 'This branch is never reached.'),
  error('no-dupe-keys', 'Remove one of the two; the later one wins.'),
  error('no-duplicate-case', 'This case is never reached.'),
  error('no-empty-character-class'),
  warning('no-empty-pattern'),
  error('no-ex-assign'),
  warning('no-fallthrough', 'End the case with break, return or throw.'),
  error('no-func-assign'),
  error('no-global-assign'),
  error('no-import-assign'),
  error('no-invalid-regexp'),
  warning('no-irregular-whitespace'),
  error('no-loss-of-precision', 'Use a bigint or a string.'),
  warning('no-misleading-character-class'),
  error('no-new-native-nonconstructor'),
  error('no-obj-calls'),
  warning('no-promise-executor-return', 'The value goes nowhere; call resolve or reject.'),
  warning('no-prototype-builtins', 'Use Object.hasOwn(object, key).'),
  warning('no-redeclare', 'Use one declaration.', JAVASCRIPT_ONLY),
  warning('no-self-assign'),
  error('no-self-compare', 'Compare with what was meant; for NaN use Number.isNaN.'),
  error('no-setter-return'),
  warning('no-shadow-restricted-names'),
  warning('no-sparse-arrays'),
  info('no-template-curly-in-string', 'Use backticks if the value was to be filled in.'),
  error('no-this-before-super'),
  warning('no-unassigned-vars'),
  warning('no-undef', 'Import or declare it.', JAVASCRIPT_ONLY),
  error('no-unexpected-multiline', 'Add the missing semicolon.'),
  warning('no-unmodified-loop-condition', 'Change it within the loop, or the loop does not end.'),
  warning('no-unreachable', 'Remove the dead code, or the exit before it.'),
  warning('no-unreachable-loop', 'The loop runs at most once; use if, or fix the exit.'),
  error('no-unsafe-finally', 'Let finally only clean up; its exit hides errors and results.'),
  error('no-unsafe-negation', 'Put parentheses around the comparison.'),
  error('no-unsafe-optional-chaining', 'It throws when the chain is cut short; give a default.'),
  warning('no-unused-private-class-members', 'Remove it.'),
  warning('no-unused-vars', 'Remove it, or begin its name with _ if it has to be there.', {
    options: [
      {
        args: 'after-used',
        argsIgnorePattern: '^_',
        // Older JSX set-ups need the import although nothing names it.
        varsIgnorePattern: '^(?:_|React$)',
        caughtErrorsIgnorePattern: '^_',
        destructuredArrayIgnorePattern: '^_',
        ignoreRestSiblings: true,
      },
    ],
  }),
  warning('no-useless-assignment', 'The value is never read.'),
  warning('no-useless-backreference'),
  info('require-atomic-updates', 'Read the value again after the await, before it is written.'),
  error('use-isnan', 'Use Number.isNaN(value).'),
  error('valid-typeof'),
];

/** What lets others in, or runs text as code. */
const SECURITY: readonly ReviewRule[] = [
  error('no-eval', 'Parse the data, or look functions up in a table.'),
  error('no-implied-eval', 'Pass a function instead of text.'),
  error('no-new-func', 'Write the function out; made from text it is eval by another name.'),
  error('no-script-url'),
  error('no-with', 'Name the object each time.'),
  warning('no-caller'),
  warning('no-extend-native', 'Write a function that takes the value.'),
  warning('no-iterator'),
  warning('no-proto', 'Use Object.getPrototypeOf and Object.create.'),
];

/** What is right today and hurts at the next change. */
const CARE: readonly ReviewRule[] = [
  warning('array-callback-return', 'Return a value in every branch, or use forEach.'),
  warning('default-case-last'),
  warning('eqeqeq', 'Use === and !==.', { options: ['always', { null: 'ignore' }] }),
  info('guard-for-in', 'Use Object.keys or Object.entries.'),
  info('no-alert'),
  info('no-array-constructor', 'Use a literal.', JAVASCRIPT_ONLY),
  info('no-await-in-loop', 'If the steps do not depend on each other, collect them and await Promise.all.'),
  warning('no-case-declarations', 'Put braces around the case.'),
  info('no-console', 'Use the logger, or remove it.', { options: [{ allow: ['warn', 'error'] }] }),
  warning('no-empty', 'Fill it, or say in a comment why nothing happens.', { options: [{ allowEmptyCatch: true }] }),
  warning('no-empty-static-block'),
  info('no-lone-blocks'),
  info('no-nested-ternary', 'Use if, or a function with early returns.'),
  warning('no-new-wrappers'),
  info('no-object-constructor'),
  warning('no-octal-escape'),
  warning('no-regex-spaces'),
  warning('no-return-assign', 'Assign first, then return.'),
  warning('no-sequences', 'Write separate statements.'),
  warning('no-throw-literal', 'Throw an Error: it has a stack and a cause.'),
  info('no-unneeded-ternary', undefined, { options: [{ defaultAssignment: false }] }),
  warning('no-unused-labels'),
  info('no-useless-catch', 'Remove the try, or add what the caller needs to know.'),
  info('no-useless-escape'),
  info('no-var', 'Use const or let.'),
  info('prefer-const', 'It is never assigned again.', { options: [{ destructuring: 'all' }] }),
  warning('prefer-promise-reject-errors', 'Reject with an Error.'),
  info('preserve-caught-error', 'Pass the caught error on as cause.'),
];

/** What makes code hard to read. */
const SIZE: readonly ReviewRule[] = [
  warning('max-depth', 'Return early, or move the inner part into a function.', { options: [4] }),
  info('max-lines', 'Split the file where the thought divides.', {
    options: [{ max: 400, skipBlankLines: true, skipComments: true }],
  }),
  info('max-lines-per-function', 'Split it into functions with names of their own.', {
    options: [{ max: 80, skipBlankLines: true, skipComments: true }],
  }),
  info('max-nested-callbacks', 'Name the inner functions, or use async/await.', { options: [4] }),
  info('max-params', 'Pass one object with named fields.', { options: [5] }),
  info('no-warning-comments', 'Do it now, or move it to the tracker.', {
    options: [{ terms: ['todo', 'fixme', 'hack', 'xxx'], location: 'start', decoration: ['/', '*', '-', '@'] }],
  }),
];

export const CORE_RULES: readonly ReviewRule[] = [...BUGS, ...SECURITY, ...CARE, ...SIZE];
