import type { Rule } from 'eslint';
import type { Severity } from './findings.js';

/** What the rules below find out about a source besides their remarks. */
export interface Observations {
  functions: number;
  maxComplexity: number;
  /** `[line, column]` of names that are declared for the type checker only: nobody has to use them. */
  readonly typeOnlyNames: Set<string>;
}

export const MAX_COMPLEXITY = 10;

/** Names of the rules in {@link ownRules} with the severity of their remarks. */
export const OWN_RULES: Readonly<Record<string, { severity: Severity; suggestion: string }>> = {
  'parley/complexity': {
    severity: 'warning',
    suggestion: 'Move branches into functions of their own, or into a table.',
  },
  'parley/empty-catch': {
    severity: 'warning',
    suggestion: 'Handle the error, pass it on, or say in a comment why it does not matter.',
  },
  'parley/no-explicit-any': { severity: 'warning', suggestion: 'Use unknown and narrow it, or name the real type.' },
  'parley/no-ts-ignore': {
    severity: 'warning',
    suggestion: 'Mend the type, or use @ts-expect-error with the reason behind it.',
  },
};

/** The rules of the plugin `parley`, for one review: they write what they observe into `seen`. */
export function ownRules(seen: Observations): Record<string, Rule.RuleModule> {
  return {
    complexity: complexity(seen),
    'empty-catch': emptyCatch,
    'no-explicit-any': noExplicitAny,
    'no-ts-ignore': noTsIgnore,
    'type-only-names': typeOnlyNames(seen),
  };
}

/** Node types beyond plain JavaScript are not in ESLint's types. */
interface AnyNode {
  readonly type: string;
  readonly loc?: Rule.Node['loc'];
  readonly parent?: AnyNode | null;
  readonly id?: AnyNode | null;
  readonly key?: AnyNode;
  readonly name?: unknown;
  readonly operator?: string;
  readonly test?: unknown;
}

const FUNCTION = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;
const BRANCH = new Set([
  'IfStatement',
  'ConditionalExpression',
  'ForStatement',
  'ForInStatement',
  'ForOfStatement',
  'WhileStatement',
  'DoWhileStatement',
  'LogicalExpression',
  'CatchClause',
]);

/** Cyclomatic complexity: one, and one more for every place where the way divides. */
function complexity(seen: Observations): Rule.RuleModule {
  return {
    meta: { type: 'suggestion', schema: [] },
    create(context) {
      const open: number[] = [];
      return {
        '*'(node: AnyNode) {
          if (FUNCTION.test(node.type)) open.push(1);
          else if (divides(node) && open.length > 0) open.push((open.pop() ?? 0) + 1);
        },
        '*:exit'(node: AnyNode) {
          if (!FUNCTION.test(node.type)) return;
          const value = open.pop() ?? 1;
          seen.functions += 1;
          seen.maxComplexity = Math.max(seen.maxComplexity, value);
          if (value > MAX_COMPLEXITY && node.loc) {
            const message = `${describeFunction(node)} has a complexity of ${String(value)}; up to ${String(MAX_COMPLEXITY)} stays readable.`;
            context.report({ loc: node.loc.start, message });
          }
        },
      };
    },
  };
}

function divides(node: AnyNode): boolean {
  if (BRANCH.has(node.type)) return true;
  if (node.type === 'SwitchCase') return node.test !== null;
  return node.type === 'AssignmentExpression' && /^(?:&&|\|\||\?\?)=$/.test(node.operator ?? '');
}

function describeFunction(node: AnyNode): string {
  const named = node.id ?? node.parent?.key ?? node.parent?.id;
  return named?.type === 'Identifier' && typeof named.name === 'string' ? `'${named.name}'` : 'A function';
}

const emptyCatch: Rule.RuleModule = {
  meta: { type: 'problem', schema: [] },
  create: (context) => ({
    CatchClause(node) {
      if (node.body.body.length > 0 || context.sourceCode.getCommentsInside(node.body).length > 0) return;
      context.report({ node, message: 'The error is caught and forgotten.' });
    },
  }),
};

const noExplicitAny: Rule.RuleModule = {
  meta: { type: 'suggestion', schema: [] },
  create: (context) => ({
    TSAnyKeyword(node: Rule.Node) {
      context.report({ node, message: "'any' switches the type checker off." });
    },
  }),
};

const noTsIgnore: Rule.RuleModule = {
  meta: { type: 'suggestion', schema: [] },
  create: (context) => ({
    Program() {
      for (const { value, loc } of context.sourceCode.getAllComments()) {
        const directive = /^[/*\s]*@ts-(?:ignore|nocheck)\b/.exec(value);
        if (directive && loc) context.report({ loc: loc.start, message: 'The type checker is told to look away.' });
      }
    },
  }),
};

/** A signature without a body has parameters for documentation; enum members are used from outside. */
const TYPE_LEVEL = [
  'TSFunctionType',
  'TSConstructorType',
  'TSCallSignatureDeclaration',
  'TSConstructSignatureDeclaration',
  'TSMethodSignature',
  'TSDeclareFunction',
  'TSEmptyBodyFunctionExpression',
  'TSParameterProperty',
  'TSEnumMember',
  'TSInferType',
  'TSModuleDeclaration[declare=true]',
];

function typeOnlyNames(seen: Observations): Rule.RuleModule {
  return {
    meta: { type: 'problem', schema: [] },
    create() {
      // Counting in and out, unlike a selector for descendants, costs the same however deep the code is nested.
      let depth = 0;
      const typeLevel = `:matches(${TYPE_LEVEL.join(', ')})`;
      return {
        [typeLevel]() {
          depth += 1;
        },
        [`${typeLevel}:exit`]() {
          depth -= 1;
        },
        Identifier({ loc }) {
          if (depth > 0 && loc) seen.typeOnlyNames.add(positionKey(loc.start.line, loc.start.column + 1));
        },
      };
    },
  };
}

/** How {@link Observations.typeOnlyNames} names a place; both count from 1. */
export function positionKey(line: number, column: number): string {
  return `${String(line)}:${String(column)}`;
}
