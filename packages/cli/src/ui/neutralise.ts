/** Colours of tool output: taken out, they are of no use without the terminal they were made for. */
const COLOURS = /\u001b\[[0-9;:]*m/g;

/** C0 but tab and newline, DEL, C1, line separators, and the marks that turn the direction of writing. */
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const CONTROL_PICTURES = 0x2400;
const DELETE = 0x7f;
const DELETE_PICTURE = '\u2421';

/**
 * Text of a model, a tool or a file name, safe to print: no byte of it is a command to the terminal. What could be one
 * is shown in a visible form; colours are dropped; line ends become `\n`. Tabs stay.
 */
export function neutralise(text: string): string {
  return text.toWellFormed().replace(COLOURS, '').replace(/\r\n?/g, '\n').replace(UNSAFE, visible);
}

/** The same on one line: every run of blanks and line ends becomes one blank. */
export function neutraliseLine(text: string): string {
  return neutralise(text).replace(/\s+/g, ' ').trim();
}

/** JSON that a terminal may show: what JSON leaves unescaped and a terminal might obey is escaped too. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, (char) => `\\u${codeOf(char).toString(16).padStart(4, '0')}`);
}

function visible(char: string): string {
  const code = codeOf(char);
  if (code < 0x20) return String.fromCharCode(CONTROL_PICTURES + code);
  if (code === DELETE) return DELETE_PICTURE;
  return `<${code.toString(16).padStart(2, '0')}>`;
}

function codeOf(char: string): number {
  return char.charCodeAt(0);
}
