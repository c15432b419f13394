const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

const ASCII = /^[\u0020-\u007e]*$/;
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
const EMOJI = /\p{Emoji_Presentation}|\p{Emoji}\ufe0f/u;

/** Ranges of East Asian wide and full-width characters: first, last. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x17000, 0x18cff],
  [0x1b000, 0x1b2ff],
  [0x20000, 0x3fffd],
];

/** What a reader takes for one character each: a family of four is one. */
export function graphemes(text: string): string[] {
  if (ASCII.test(text)) return text.split('');
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Columns that a terminal needs for a text without control characters. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  return graphemes(text).reduce((sum, grapheme) => sum + graphemeWidth(grapheme), 0);
}

/** Columns of one grapheme: 0, 1 or 2. */
export function graphemeWidth(grapheme: string): number {
  const code = grapheme.codePointAt(0) ?? 0;
  if (code < 0x7f) return grapheme.length > 1 && EMOJI.test(grapheme) ? 2 : 1;
  if (ZERO_WIDTH.test(grapheme)) return 0;
  if (EMOJI.test(grapheme)) return 2;
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}

/** Cuts a text to so many columns, the last of which says that something is missing. */
export function truncate(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width < 1) return '';
  return `${take(text, width - 1)}…`;
}

/** As much of a text as fits. */
function take(text: string, width: number): string {
  let taken = '';
  let used = 0;
  for (const grapheme of graphemes(text)) {
    used += graphemeWidth(grapheme);
    if (used > width) break;
    taken += grapheme;
  }
  return taken;
}

/**
 * Breaks one line into rows of at most `width` columns, between words where it can. No character is lost but the
 * blanks at a break; the rows before the last one do not change when text is appended.
 */
export function wrapLine(line: string, width: number): string[] {
  const limit = Math.max(width, 2);
  const rows: string[] = [];
  let row = '';
  let used = 0;
  for (const word of line.match(/\s+|\S+/gu) ?? []) {
    const size = widthOf(word);
    if (used + size <= limit) {
      row += word;
      used += size;
      continue;
    }
    if (isBlank(word)) {
      // Blanks at the edge stay until a word shows that the row is over.
      row += word;
      used = limit;
      continue;
    }
    if (row.trim() !== '') {
      rows.push(row.trimEnd());
      row = '';
      used = 0;
    }
    for (const grapheme of used + size <= limit ? [word] : graphemes(word)) {
      const columns = widthOf(grapheme);
      if (used + columns > limit) {
        rows.push(row);
        row = '';
        used = 0;
      }
      row += grapheme;
      used += columns;
    }
  }
  return [...rows, row];
}

function isBlank(word: string): boolean {
  return word.trim() === '';
}
