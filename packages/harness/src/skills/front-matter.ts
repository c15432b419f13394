import { isMap, isNode, isScalar, parseDocument, type Document } from 'yaml';
import { quoteLooseValues } from './loose-front-matter.js';
import { BrokenSkillError } from './skill-errors.js';

export interface FrontMatter {
  /** Null if it says none. */
  readonly name: string | null;
  readonly description: string;
}

const NONE: FrontMatter = { name: null, description: '' };
const MARKER = /^---[ \t]*$/u;
const MAX_FRONT_MATTER_CHARS = 16_384;
const MAX_NAME_CHARS = 128;
// Control characters and line separators: a name or a path with one could pass for more lines of the index.
const UNPRINTABLE = /[\p{Cc}\u2028\u2029]/u;

/**
 * Name and description from the YAML between two lines `---` at the beginning of a SKILL.md. A text that does not begin
 * with such a line has none. Values with an unquoted `: `, which YAML forbids and people write, are understood.
 *
 * @throws BrokenSkillError
 */
export function readFrontMatter(text: string): FrontMatter {
  const block = frontMatterBlock(text);
  if (block === null) return NONE;
  const document = parse(block);
  if (document.contents === null) return NONE;
  if (!isMap(document.contents)) throw new BrokenSkillError('its front matter is no mapping');
  return { name: nameOf(document), description: descriptionOf(document) };
}

/** True for a text that must not be shown in a list of lines. */
export function isUnprintable(text: string): boolean {
  return UNPRINTABLE.test(text);
}

function frontMatterBlock(text: string): string | null {
  const lines = text.split(/\r?\n/u);
  if (lines[0] === undefined || !MARKER.test(lines[0])) return null;
  const end = lines.findIndex((line, index) => index > 0 && MARKER.test(line));
  if (end === -1) throw new BrokenSkillError('its front matter has no end marker');
  const block = lines.slice(1, end).join('\n');
  if (block.length > MAX_FRONT_MATTER_CHARS) {
    throw new BrokenSkillError(`its front matter has more than ${MAX_FRONT_MATTER_CHARS} characters`);
  }
  return block;
}

function parse(block: string): Document {
  const strict = parseYaml(block);
  if (strict.errors.length === 0) return strict;
  const loose = parseYaml(quoteLooseValues(block));
  if (loose.errors.length === 0) return loose;
  // The first line of the library's text; the others quote the file.
  const reason = strict.errors[0]?.message.split('\n')[0] ?? '';
  throw new BrokenSkillError(`its front matter is no YAML: ${reason}`);
}

/** The core schema makes plain values only; no tag runs anything. */
function parseYaml(block: string): Document {
  try {
    return parseDocument(block, { schema: 'core', version: '1.2', merge: false, logLevel: 'silent' });
  } catch (error) {
    // Nesting without end overflows the stack of the parser.
    throw new BrokenSkillError('its front matter could not be parsed', { cause: error });
  }
}

function nameOf(document: Document): string | null {
  const value = scalarOf(document, 'name');
  if (value === null || value === '') return null;
  if (typeof value !== 'string') throw new BrokenSkillError('its name is no text: it needs quotes');
  const name = value.trim();
  if (name === '') throw new BrokenSkillError('its name is blank');
  if (name.length > MAX_NAME_CHARS) throw new BrokenSkillError(`its name has more than ${MAX_NAME_CHARS} characters`);
  if (isUnprintable(name)) throw new BrokenSkillError('its name has control characters');
  return name;
}

function descriptionOf(document: Document): string {
  const value = scalarOf(document, 'description');
  return value === null ? '' : String(value).replace(/\s+/gu, ' ').trim();
}

/**
 * One value without the rest of the document: aliases elsewhere are never followed, however often they multiply.
 */
function scalarOf(document: Document, key: string): string | number | bigint | boolean | null {
  const node: unknown = document.get(key, true);
  if (node === undefined || node === null) return null;
  const value: unknown = isScalar(node) ? node.value : isNode(node) ? undefined : node;
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
      return value;
    default:
      if (value === null) return null;
      throw new BrokenSkillError(`its ${key} is no single value`);
  }
}
