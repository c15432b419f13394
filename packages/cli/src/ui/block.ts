import type { Line, Tone } from './style.js';

/** A piece of output for the space above the input line. */
export type Block =
  /**
   * Joins what was streamed before in the same tone; ends with the next block of another kind. The text is as it came:
   * a delta may end in half a character, so it is made safe where it is joined. All other texts are neutralised.
   */
  | { readonly type: 'stream'; readonly text: string; readonly tone: Tone }
  /** Cut at the edge. */
  | { readonly type: 'line'; readonly line: Line }
  /** Broken at the edge; `indent` blanks before every row, or before the first one `mark`, which is as wide. */
  | {
      readonly type: 'text';
      readonly text: string;
      readonly tone: Tone;
      readonly indent: number;
      readonly mark?: string;
    }
  /** An empty row, unless there is one already. */
  | { readonly type: 'gap' };

export const gap: Block = { type: 'gap' };

export function line(...spans: Line): Block {
  return { type: 'line', line: spans };
}

export function text(content: string, tone: Tone = 'plain', indent = 0): Block {
  return { type: 'text', text: content, tone, indent };
}

/** A text whose first row begins with a mark; the other rows are indented to match. */
export function marked(mark: string, content: string, tone: Tone): Block {
  return { type: 'text', text: content, tone, indent: mark.length, mark };
}
