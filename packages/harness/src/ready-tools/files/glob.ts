import { RE2JS } from 're2js';
import { ReadyToolError } from '../ready-tool-error.js';

const MAX_GLOB_LENGTH = 500;

/**
 * Tests paths against a glob: `*` and `?` within a name, `**` across folders, `[a-z]`, `{a,b}`. A glob without a slash
 * is about the last name of a path. Matched by RE2, so that no glob takes long.
 *
 * @throws ReadyToolError for a glob that cannot be read.
 */
export function globMatcher(glob: string): (path: string) => boolean {
  if (glob.length > MAX_GLOB_LENGTH) throw new ReadyToolError(`'glob' must have at most ${MAX_GLOB_LENGTH} characters`);
  const pattern = compile(glob.replace(/^\.?\//u, ''));
  if (glob.includes('/')) return (path) => pattern.test(path);
  return (path) => pattern.test(path.slice(path.lastIndexOf('/') + 1));
}

function compile(glob: string): RE2JS {
  try {
    return RE2JS.compile(`^(?:${[...tokens(glob)].join('')})$`, RE2JS.DOTALL);
  } catch {
    throw new ReadyToolError("'glob' cannot be read");
  }
}

const TOKEN = /\*\*\/|\*\*|\*|\?|\[[!^]?\]?[^\]]*\]|\\.|[{},]|[^*?[\\{},]+|[[\\]/gsu;

function* tokens(glob: string): Generator<string> {
  let depth = 0;
  for (const [token] of glob.matchAll(TOKEN)) {
    if (token === '{') depth += 1;
    if (token === '}' && depth === 0) yield '\\}';
    else yield translated(token, depth);
    if (token === '}' && depth > 0) depth -= 1;
  }
}

function translated(token: string, depth: number): string {
  switch (token) {
    case '**/':
      return '(?:.*/)?';
    case '**':
      return '.*';
    case '*':
      return '[^/]*';
    case '?':
      return '[^/]';
    case '{':
      return '(?:';
    case '}':
      return ')';
    case ',':
      return depth > 0 ? '|' : ',';
    default:
      return isSet(token) ? set(token) : RE2JS.quote(token.length === 2 ? token.replace(/^\\/u, '') : token);
  }
}

function isSet(token: string): boolean {
  return token.length > 2 && token.startsWith('[') && token.endsWith(']');
}

function set(token: string): string {
  const negated = token.startsWith('[!') || token.startsWith('[^');
  const members = token.slice(negated ? 2 : 1, -1).replaceAll(/[[\]\\^]/gu, (member) => `\\${member}`);
  return `[${negated ? '^/' : ''}${members}]`;
}
