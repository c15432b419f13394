import { RE2JS } from 're2js';
import type { WorkBudget } from './work-budget.js';

/** Longer patterns, and patterns that compile to larger programs, are not checked. */
const MAX_PATTERN_LENGTH = 4_096;
const MAX_PROGRAM_SIZE = 10_000;

/** Units of pattern size times text length that count as one step. */
const UNITS_PER_STEP = 20;

/** What a validator needs of a compiled pattern. */
export interface SchemaPattern {
  test(text: string): boolean;
  /** The pattern itself: validators keep one compiled pattern per text that this gives. */
  toString(): string;
}

export interface PatternEngine {
  (pattern: string, flags: string): SchemaPattern;
  /** Only used when validators are written to files, which nobody does here. */
  code: string;
}

/**
 * Compiles patterns for RE2, which has no backtracking that a hostile pattern could use. What RE2 cannot take, such
 * as a lookahead, matches everything, and `onUnchecked` hears of it. What no engine can read is thrown out.
 */
export function patternEngine(budget: WorkBudget, onUnchecked: (pattern: string) => void): PatternEngine {
  const engine = (pattern: string): SchemaPattern => {
    const compiled = compilePattern(pattern);
    if (compiled === undefined) {
      if (!isPattern(pattern)) throw new SyntaxError('a pattern is not a regular expression');
      onUnchecked(pattern);
      return { test: () => true, toString: () => pattern };
    }
    const size = compiled.programSize();
    const test = (text: string) => {
      budget.spend(1 + (text.length * size) / UNITS_PER_STEP);
      return compiled.test(text);
    };
    return { test, toString: () => pattern };
  };
  return Object.assign(engine, { code: 'new RegExp' });
}

/** True if RE2 or the language itself can read a pattern; one that neither can is a mistake in the schema. */
export function isPattern(pattern: string): boolean {
  if (pattern.length > MAX_PATTERN_LENGTH || compilePattern(pattern) !== undefined) return true;
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return isLoosePattern(pattern);
  }
}

function isLoosePattern(pattern: string): boolean {
  try {
    new RegExp(pattern);
    return true;
  } catch {
    return false;
  }
}

function compilePattern(pattern: string): RE2JS | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH) return undefined;
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return compiled.programSize() > MAX_PROGRAM_SIZE ? undefined : compiled;
  } catch {
    return undefined;
  }
}
