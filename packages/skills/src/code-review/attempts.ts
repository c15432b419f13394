import type { SourceLanguage } from './findings.js';

/** One way to read a source. */
export interface Attempt {
  readonly language: SourceLanguage;
  /** Made up: parsers choose the dialect by its ending. The name that the caller gave is never used as a path. */
  readonly filename: string;
  readonly sourceType: 'module' | 'commonjs';
}

const MODULE: Attempt = { language: 'javascript', filename: 'review.js', sourceType: 'module' };
/** Sloppy mode with `return` at the top: old scripts and CommonJS. */
const SCRIPT: Attempt = { language: 'javascript', filename: 'review.js', sourceType: 'commonjs' };
const TS: Attempt = { language: 'typescript', filename: 'review.ts', sourceType: 'module' };
const TSX: Attempt = { language: 'typescript', filename: 'review.tsx', sourceType: 'module' };

/** Which ways to try, in this order; the first that parses is taken. */
export function attemptsFor(language: SourceLanguage | 'auto', filename: string | undefined): readonly Attempt[] {
  const ending = /\.([a-z]+)$/i.exec(filename ?? '')?.[1]?.toLowerCase();
  if (language === 'javascript') return javascriptAttempts(ending);
  if (language === 'typescript') return typescriptAttempts(ending);
  if (ending !== undefined && /^(?:[mc]?ts|tsx)$/.test(ending)) return typescriptAttempts(ending);
  if (ending !== undefined && /^(?:[mc]?js|jsx)$/.test(ending)) return javascriptAttempts(ending);
  return [MODULE, SCRIPT, TS, TSX];
}

function javascriptAttempts(ending: string | undefined): readonly Attempt[] {
  if (ending === 'mjs') return [MODULE];
  return ending === 'cjs' ? [SCRIPT] : [MODULE, SCRIPT];
}

function typescriptAttempts(ending: string | undefined): readonly Attempt[] {
  if (ending === 'tsx') return [TSX];
  return ending !== undefined && /^[mc]?ts$/.test(ending) ? [TS] : [TS, TSX];
}
