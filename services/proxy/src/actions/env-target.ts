import { Buffer } from 'node:buffer';
import type { EnvServer } from '../domain/facts.js';
import { quote } from '../domain/python-repr.js';
import { sessionError } from './mcp-errors.js';

/** Where an env server is, and the headers that every request to it carries; names in lower case. */
export interface EnvTarget {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/u;
/** Letters beyond Latin-1 have no form in a header. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/u;
/** They belong to a request and its connection, whoever registers them. */
const FRAMING = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** @throws McpError for a URL or a header that no request can be made of. */
export function readTarget(server: EnvServer): EnvTarget {
  const url = readUrl(server.url);
  const headers: Record<string, string> = {};
  const login = readLogin(url);
  if (login !== undefined) headers['authorization'] = login;
  url.username = '';
  url.password = '';
  url.hash = '';
  for (const [name, value] of Object.entries(server.headers)) {
    if (!HEADER_NAME.test(name)) throw sessionError(`${quote(name)} is no name of a header`);
    const trimmed = value.replace(/^[\t ]+|[\t ]+$/gu, '');
    if (!HEADER_VALUE.test(trimmed)) throw sessionError(`the value of header ${quote(name)} can't be sent`);
    if (!FRAMING.has(name.toLowerCase())) headers[name.toLowerCase()] = trimmed;
  }
  return { url, headers };
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw sessionError('its URL is unusable');
}

function readLogin(url: URL): string | undefined {
  if (url.username === '' && url.password === '') return undefined;
  const login = `${decode(url.username)}:${decode(url.password)}`;
  return `Basic ${Buffer.from(login, 'utf8').toString('base64')}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
