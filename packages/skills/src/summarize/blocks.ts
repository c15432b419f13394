/** A paragraph, a heading or a list item: `[start, end)` of the source. */
export interface Block {
  readonly start: number;
  readonly end: number;
  readonly isHeading: boolean;
}

const LINE_END = /\r\n|[\n\r\u0085\u2028\u2029]/gu;
const HEADING = /^[ \t]{0,3}#{1,6}[ \t]/u;
const OPENS_BLOCK = /^[ \t]*(?:[-*+•‣–—][ \t]|\d{1,3}[.)][ \t]|>|\|)/u;

/** Splits text at what always separates: blank lines, Markdown headings, list items, quotes, table rows. */
export function* splitBlocks(source: string): Generator<Block> {
  let open: { start: number; end: number } | undefined;
  for (const line of lines(source)) {
    const text = source.slice(line.start, line.end);
    const isBlank = text.trim() === '';
    const isHeading = HEADING.test(text);
    if (open !== undefined && (isBlank || isHeading || OPENS_BLOCK.test(text))) {
      yield { ...open, isHeading: false };
      open = undefined;
    }
    if (isHeading) yield { ...line, isHeading: true };
    else if (!isBlank) open = { start: open?.start ?? line.start, end: line.end };
  }
  if (open !== undefined) yield { ...open, isHeading: false };
}

function* lines(source: string): Generator<{ start: number; end: number }> {
  let start = 0;
  for (const match of source.matchAll(LINE_END)) {
    yield { start, end: match.index };
    start = match.index + match[0].length;
  }
  yield { start, end: source.length };
}
