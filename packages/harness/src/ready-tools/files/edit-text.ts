import { ReadyToolError } from '../ready-tool-error.js';

export interface TextEdit {
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll: boolean;
  /** The longest text that may come of it, in UTF-16 units. */
  readonly maxLength: number;
}

export interface EditedText {
  readonly text: string;
  readonly replacements: number;
}

/**
 * Replaces one text, which must occur exactly once unless all are meant. In a file with CRLF line ends, LF in both
 * texts stands for CRLF: models seldom write CR.
 *
 * @throws ReadyToolError saying how often it occurs.
 */
export function editText(text: string, edit: TextEdit): EditedText {
  if (edit.oldText === '') throw new ReadyToolError("'old_text' must not be empty");
  if (edit.oldText === edit.newText) throw new ReadyToolError("'old_text' and 'new_text' are the same");
  const crlf = usesCrlf(text);
  const newText = crlf ? toCrlf(edit.newText) : edit.newText;
  const oldText = crlf && !text.includes(edit.oldText) ? toCrlf(edit.oldText) : edit.oldText;
  const count = checkedCount(text, oldText, edit.replaceAll);
  if (text.length + count * (newText.length - oldText.length) > edit.maxLength) {
    throw new ReadyToolError('the file would become too large');
  }
  // Not String.replace: it reads `$` in the new text.
  return { text: text.split(oldText).join(newText), replacements: count };
}

function checkedCount(text: string, oldText: string, replaceAll: boolean): number {
  const count = occurrences(text, oldText);
  if (count === 0) throw new ReadyToolError("'old_text' does not occur in the file");
  if (replaceAll) return count;
  if (count > 1) {
    throw new ReadyToolError(`'old_text' occurs ${count} times; give more of its surroundings or set 'replace_all'`);
  }
  if (text.includes(oldText, text.indexOf(oldText) + 1)) {
    throw new ReadyToolError("'old_text' occurs more than once, overlapping itself; give more of its surroundings");
  }
  return 1;
}

function occurrences(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count += 1;
  return count;
}

/** Whether more lines end in CRLF than in LF. */
function usesCrlf(text: string): boolean {
  const crlf = occurrences(text, '\r\n');
  return crlf > 0 && crlf * 2 > occurrences(text, '\n');
}

function toCrlf(text: string): string {
  return text.replaceAll(/\r?\n/gu, '\r\n');
}
