import { randomBytes } from 'node:crypto';
import { Refusal, type Json } from '../../domain/facts.js';
import type { ProxyEngine } from '../../engine/index.js';
import { nullable, recordOf, request, text, wrongField } from '../fields/index.js';
import type { ProxyRoute } from '../routes.js';
import { refuseFields } from './no-fields.js';

const PATH = '/ext/mcp-config';

const addRequest = request({ url: text() }, { headers: nullable(recordOf(headerValue)), name: nullable(text()) });
const removeRequest = request({ name: text() }, {});

export function mcpConfigRoutes(engine: ProxyEngine): readonly ProxyRoute[] {
  return [
    {
      method: 'POST',
      path: PATH,
      summary: 'Registers an MCP server for the turns to come.',
      isControl: true,
      handle: async ({ fields }) => {
        const { url: given, headers, name: wanted } = addRequest(fields);
        const url = usableUrl(given.trim());
        refuseHeaderNames(headers ?? {});
        const name = (wanted ?? '') === '' ? `mcp_${randomBytes(4).toString('hex')}` : (wanted ?? '');
        await engine.addServer({ name, url, headers: headers ?? {} });
        return { status: 'added', name, url };
      },
    },
    {
      method: 'GET',
      path: PATH,
      summary: 'The registered MCP servers, without their headers.',
      isControl: true,
      handle: ({ fields }) => {
        refuseFields(fields, 'list');
        const entries = engine.servers.map(({ name, url, headers }) => [
          name,
          { url, has_headers: Object.keys(headers).length > 0 },
        ]);
        return { mcp_servers: Object.fromEntries(entries) as object };
      },
    },
    {
      method: 'DELETE',
      path: PATH,
      summary: 'Removes the MCP server called `name` from the turns to come.',
      isControl: true,
      handle: async ({ fields }) => {
        const { name } = removeRequest(fields);
        if (!(await engine.removeServer(name))) throw new Refusal(404, `MCP name '${name}' is not registered`);
        return { status: 'removed', name };
      },
    },
  ];
}

/** An address that no request could ever be sent to is refused here and not in each turn. */
function usableUrl(url: string): string {
  if (url === '') throw wrongField('', 'url must not be empty');
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw wrongField('url', 'must be an absolute http or https address');
  }
  return url;
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Visible ASCII, spaces and tabs: what arrives at every server as it was meant. */
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

function headerValue(value: Json, path: string): string {
  const read = text()(value, path);
  if (!HEADER_VALUE.test(read)) throw wrongField(path, 'cannot be sent as the value of a header');
  return read;
}

function refuseHeaderNames(headers: Readonly<Record<string, string>>): void {
  if (Object.keys(headers).every((name) => HEADER_NAME.test(name))) return;
  throw wrongField('headers', 'have a name that no header can have');
}
