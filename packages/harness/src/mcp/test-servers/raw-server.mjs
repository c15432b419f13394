// A server written by hand, so that it can break every rule. The argument says which.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const mode = process.argv[2] ?? 'plain';
const ECHO = { name: 'echo', inputSchema: { type: 'object', properties: {} } };
let listed = 0;
let changed = false;

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function tool(name, inputSchema = { type: 'object', properties: {} }) {
  return { name, inputSchema };
}

const LISTS = {
  'many-pages': ({ cursor }) => {
    const page = Number(cursor ?? 0);
    return { tools: [tool(`t${page}`)], ...(page < 4 ? { nextCursor: String(page + 1) } : {}) };
  },
  'endless-pages': () => {
    listed += 1;
    return { tools: [tool(`t${listed}`)], nextCursor: `c${listed}` };
  },
  'same-cursor': () => ({ tools: [ECHO], nextCursor: 'again' }),
  'bad-tools': () => ({
    tools: [
      ECHO,
      { name: '', inputSchema: { type: 'object' } },
      { name: 5, inputSchema: { type: 'object' } },
      { name: 'line\nbreak', inputSchema: { type: 'object' } },
      { name: 'no-schema' },
      { name: 'array-schema', inputSchema: { type: 'array' } },
      tool('dangling', { type: 'object', properties: { a: { $ref: '#/nowhere' } } }),
      ECHO,
      'nonsense',
    ],
  }),
  'long-names': () => ({
    tools: [
      tool(`${'x'.repeat(80)}1`),
      tool(`${'x'.repeat(80)}2`),
      tool('a.b'),
      tool('a_b'),
      tool('a/b'),
      tool('größe'),
    ],
  }),
  'list-changed': () => ({ tools: changed ? [tool('new')] : [tool('old'), tool('change')] }),
};

function list(params) {
  return (
    LISTS[mode]?.(params) ?? {
      tools: ['echo', 'die', 'cwd', 'env', 'pid', 'grandchild', 'slow'].map((name) => tool(name)),
    }
  );
}

const CALLS = {
  die: () => process.exit(3),
  cwd: () => process.cwd(),
  env: () => JSON.stringify(process.env),
  pid: () => process.pid,
  change: () => {
    changed = true;
    send({ method: 'notifications/tools/list_changed' });
    return 'changed';
  },
  grandchild: () => {
    const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    return String(child.pid);
  },
};

function call(id, { name, arguments: args }) {
  if (process.env.CALL_LOG) appendFileSync(process.env.CALL_LOG, `${name}\n`);
  if (name === 'slow') return;
  const text = (CALLS[name] ?? (() => JSON.stringify(args)))();
  send({ id, result: { content: [{ type: 'text', text: String(text) }] } });
}

function receive({ id, method, params = {} }) {
  if (process.env.MESSAGE_LOG) appendFileSync(process.env.MESSAGE_LOG, `${method}\n`);
  if (method === 'initialize') {
    if (mode === 'mute' || mode === 'only-garbage') return;
    const capabilities = { tools: { listChanged: true } };
    send({
      id,
      result: { protocolVersion: params.protocolVersion, capabilities, serverInfo: { name: 'raw', version: '1' } },
    });
  }
  if (method === 'tools/list') send({ id, result: list(params) });
  if (method === 'tools/call') call(id, params);
}

if (mode === 'exits') {
  process.stderr.write(`cannot start: token=${process.env.SECRET_TOKEN ?? ''} ${'noise '.repeat(2_000)} last words\n`);
  process.exit(7);
}
if (mode === 'garbage') process.stdout.write('starting up ...\n\n{"half": \n');
if (mode === 'only-garbage') setInterval(() => process.stdout.write('log line\n'.repeat(10)), 1);
if (mode === 'stubborn') {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1_000);
}
createInterface({ input: process.stdin }).on('line', (line) => receive(JSON.parse(line)));
