import type { EditorState } from './line-editor.js';
import { neutralise } from './neutralise.js';
import { graphemes, graphemeWidth, widthOf } from './text-width.js';

export interface InputLayout {
  readonly rows: readonly string[];
  readonly cursorRow: number;
  readonly cursorColumn: number;
}

const TAB = '    ';

/**
 * The line as rows of at most `width` columns: the prompt before the first, as many blanks before the others. If there
 * are more than `maxRows`, those around the cursor.
 */
export function layOutInput(state: EditorState, prompt: string, width: number, maxRows: number): InputLayout {
  const indent = widthOf(prompt);
  const room = Math.max(2, width - indent);
  const lines = state.text.split('\n');
  const linesToCursor = state.text.slice(0, state.cursor).split('\n');
  const cursorLine = linesToCursor.length - 1;
  const cursorOffset = linesToCursor.at(-1)?.length ?? 0;
  // Rows far from the cursor are not shown: a long paste costs no more than what is seen of it.
  const firstLine = Math.max(0, cursorLine - maxRows);
  const rows: string[] = [];
  let cursorRow = 0;
  let cursorColumn = 0;
  for (const [at, line] of lines.slice(firstLine, cursorLine + maxRows + 1).entries()) {
    if (firstLine + at !== cursorLine) {
      rows.push(...breakRow(line, room));
      continue;
    }
    const upToCursor = breakRow(line.slice(0, cursorOffset), room);
    const last = upToCursor.at(-1) ?? '';
    const isFull = widthOf(last) >= room;
    cursorRow = rows.length + upToCursor.length - (isFull ? 0 : 1);
    cursorColumn = isFull ? 0 : widthOf(last);
    rows.push(...breakRow(line, room));
    if (cursorRow >= rows.length) rows.push('');
  }
  const firstRow = Math.min(Math.max(0, cursorRow - maxRows + 1), Math.max(0, rows.length - maxRows));
  const blanks = ' '.repeat(indent);
  return {
    rows: rows
      .slice(firstRow, firstRow + maxRows)
      .map((row, at) => (firstLine + firstRow + at === 0 ? prompt : blanks) + row),
    cursorRow: cursorRow - firstRow,
    cursorColumn: indent + cursorColumn,
  };
}

/** Breaks wherever a row is full: where a word ends does not matter while it is written. */
function breakRow(line: string, room: number): string[] {
  const rows: string[] = [];
  let row = '';
  let used = 0;
  for (const grapheme of graphemes(neutralise(line).replaceAll('\t', TAB))) {
    const columns = graphemeWidth(grapheme);
    if (used + columns > room) {
      rows.push(row);
      row = '';
      used = 0;
    }
    row += grapheme;
    used += columns;
  }
  return [...rows, row];
}
