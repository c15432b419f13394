/** From least to most severe. */
export const SEVERITIES = ['info', 'warning', 'error'] as const;

export type Severity = (typeof SEVERITIES)[number];

/** One remark about the source; `line` and `column` count from 1. */
export interface Finding {
  readonly line: number;
  readonly column: number;
  readonly severity: Severity;
  /** An ESLint core rule, or `parley/…` for checks of our own. */
  readonly rule: string;
  readonly message: string;
  readonly suggestion?: string;
}

export interface Metrics {
  readonly lines: number;
  readonly functions: number;
  /** Cyclomatic complexity of the most complex function, 0 without functions. */
  readonly max_complexity: number;
}

export type Verdict = 'approve' | 'comment' | 'request_changes';

export type SourceLanguage = 'javascript' | 'typescript';

const MAX_MESSAGE_CHARS = 300;

/** Names out of the reviewed source may be as long as the source: the message is cut, and made valid Unicode. */
export function boundedMessage(message: string): string {
  const whole = message.length <= MAX_MESSAGE_CHARS ? message : `${message.slice(0, MAX_MESSAGE_CHARS - 1)}…`;
  return whole.toWellFormed();
}
