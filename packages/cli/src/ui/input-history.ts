/** How many lines are remembered. */
const CAPACITY = 500;

/** Lines that were entered before, and where in them the reader stands. Never changed, only replaced. */
export interface InputHistory {
  readonly entries: readonly string[];
  /** `entries.length` is the line being written. */
  readonly index: number;
  /** That line, while an older one is shown. */
  readonly draft: string;
}

export const emptyHistory: InputHistory = { entries: [], index: 0, draft: '' };

/** The newest entry is last; a line that repeats it is not stored again. */
export function remember(history: InputHistory, line: string): InputHistory {
  const isRepeat = history.entries.at(-1) === line;
  const entries = isRepeat ? history.entries : [...history.entries, line].slice(-CAPACITY);
  return { entries, index: entries.length, draft: '' };
}

export interface HistoryStep {
  readonly history: InputHistory;
  readonly text: string;
}

/** The line before or after the one that is shown, or undefined at either end. */
export function stepThrough(history: InputHistory, by: -1 | 1, shown: string): HistoryStep | undefined {
  const index = history.index + by;
  if (index < 0 || index > history.entries.length) return undefined;
  const draft = history.index === history.entries.length ? shown : history.draft;
  return { history: { ...history, index, draft }, text: history.entries[index] ?? draft };
}
