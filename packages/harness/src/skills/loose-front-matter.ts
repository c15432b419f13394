const KEY_AND_TEXT = /^([A-Za-z][\w-]*):[ \t]+(\S.*)$/u;
const CONTINUATION = /^[ \t]+\S/u;
/** A value that begins with one of these is more than plain text. */
const NOT_PLAIN = /^["'|>[\]{}&*!#%@`]/u;

/**
 * The same front matter with the plain text of every top-level key in quotes, lines that continue it included. It is
 * for text that is no YAML as it is, most often because of a colon and a blank inside a description.
 */
export function quoteLooseValues(block: string): string {
  const lines = block.split('\n');
  const quoted: string[] = [];
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const [, key, value] = KEY_AND_TEXT.exec(line) ?? [];
    if (key === undefined || value === undefined || NOT_PLAIN.test(value)) {
      quoted.push(line);
      continue;
    }
    const texts = [value.trim()];
    while (CONTINUATION.test(lines[index + 1] ?? '')) texts.push((lines[++index] ?? '').trim());
    // A number or a truth value stays what it is: quotes would make a text of it.
    quoted.push(texts.length === 1 && !needsQuotes(value) ? line : `${key}: ${JSON.stringify(texts.join(' '))}`);
  }
  return quoted.join('\n');
}

function needsQuotes(value: string): boolean {
  return /:(?:\s|$)/u.test(value);
}
