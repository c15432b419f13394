import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** One line of a table by the names of its columns; cells without the marks of code. */
export type TableRow = Readonly<Record<string, string>>;

/** The lines of a document between a heading and the next of the same or a higher level. */
export function section(document: string, heading: string): readonly string[] {
  const lines = readFileSync(join(root, document), 'utf8').split('\n');
  const from = lines.findIndex((line) => line.replace(/^#+ /u, '') === heading && line.startsWith('#'));
  if (from === -1) throw new Error(`${document} has no heading ${heading}`);
  const level = /^#+/u.exec(lines[from] ?? '')?.[0].length ?? 1;
  const rest = lines.slice(from + 1);
  const end = rest.findIndex((line) => (/^#+(?= )/u.exec(line)?.[0].length ?? Infinity) <= level);
  return end === -1 ? rest : rest.slice(0, end);
}

/** Every table of a section, in order. */
export function tables(document: string, heading: string): readonly (readonly TableRow[])[] {
  const found: TableRow[][] = [];
  let columns: readonly string[] | undefined;
  for (const line of section(document, heading)) {
    if (!line.startsWith('|')) columns = undefined;
    else if (columns === undefined) {
      columns = cells(line);
      found.push([]);
    } else if (!/^[|\s:-]+$/u.test(line)) {
      const values = cells(line);
      found.at(-1)?.push(Object.fromEntries(columns.map((name, index) => [name, values[index] ?? ''])));
    }
  }
  return found;
}

/** The first table of a section. */
export function table(document: string, heading: string): readonly TableRow[] {
  const [first = []] = tables(document, heading);
  if (first.length === 0) throw new Error(`${document} has no table below ${heading}`);
  return first;
}

/** The text of every fenced block of a section, in order. */
export function blocks(document: string, heading: string): readonly string[] {
  return [
    ...section(document, heading)
      .join('\n')
      .matchAll(/^```\w*\n(.*?)^```/gmsu),
  ].map(([, text = '']) => text.trim());
}

function cells(line: string): readonly string[] {
  return line
    .replace(/^\||\|$/gu, '')
    .split('|')
    .map((cell) => cell.trim().replaceAll('`', ''));
}
