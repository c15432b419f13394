// An environment's MCP server (Streamable HTTP) as a process, for tests of the whole system: tools add, echo, fail and
// slow. `node env-server.mjs [port] [host]` prints its URL as the first line; port 0, the default, is a free one. It
// ends with SIGTERM.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

const [port = '0', host = '127.0.0.1'] = process.argv.slice(2);
const MAX_BODY_BYTES = 8 * 1024 * 1024;
const sessions = new Set();

const number = { type: 'number' };
const tools = {
  add: {
    description: 'Adds two numbers.',
    inputSchema: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] },
    run: ({ a, b }) => String(a + b),
  },
  echo: {
    description: 'Gives its arguments back, as JSON.',
    inputSchema: { type: 'object' },
    run: (args) => JSON.stringify(args),
  },
  fail: {
    description: 'Always fails.',
    inputSchema: { type: 'object', properties: {} },
    run: () => {
      throw new Error('it failed');
    },
  },
  slow: {
    description: 'Sleeps, then answers.',
    inputSchema: { type: 'object', properties: { seconds: number } },
    run: async ({ seconds = 1 }, signal) => {
      await delay(seconds * 1000, undefined, { signal });
      return 'slept';
    },
  },
};

async function callTool({ name, arguments: args = {} }, signal) {
  if (!Object.hasOwn(tools, name)) return textResult(`no tool '${name}'`, true);
  try {
    return textResult(await tools[name].run(args, signal), false);
  } catch (error) {
    return textResult(error.message, true);
  }
}

function textResult(text, isError) {
  return { content: [{ type: 'text', text }], isError };
}

function listTools() {
  return {
    tools: Object.entries(tools).map(([name, { description, inputSchema }]) => ({ name, description, inputSchema })),
  };
}

function initialize({ protocolVersion }, response) {
  const session = randomUUID();
  sessions.add(session);
  response.setHeader('mcp-session-id', session);
  return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'parley-env', version: '1.0.0' } };
}

async function answer({ method, params = {} }, response, signal) {
  switch (method) {
    case 'initialize':
      return { result: initialize(params, response) };
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: listTools() };
    case 'tools/call':
      return { result: await callTool(params, signal) };
    default:
      return { error: { code: -32601, message: 'unknown method' } };
  }
}

async function readBody(request) {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk;
    if (body.length > MAX_BODY_BYTES) throw new Error('the body is too large');
  }
  return JSON.parse(body);
}

async function serve(request, response) {
  const { pathname } = new URL(request.url, 'http://env');
  if (pathname === '/health') return response.end('{"status":"ok"}');
  if (pathname !== '/mcp') return response.writeHead(404).end();
  const session = request.headers['mcp-session-id'];
  if (request.method === 'DELETE') {
    sessions.delete(session);
    return response.end();
  }
  if (request.method !== 'POST') return response.writeHead(405, { allow: 'POST, DELETE' }).end();
  const message = await readBody(request);
  if (message.method !== 'initialize' && !sessions.has(session)) return response.writeHead(404).end('unknown session');
  if (message.id === undefined) return response.writeHead(202).end();
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const reply = { jsonrpc: '2.0', id: message.id, ...(await answer(message, response, gone.signal)) };
  return response.setHeader('content-type', 'application/json').end(JSON.stringify(reply));
}

const server = createServer((request, response) => {
  serve(request, response).catch((error) => {
    if (response.headersSent) response.destroy();
    else response.writeHead(400).end(error.message);
  });
});

server.listen(Number(port), host, () => {
  const address = server.address();
  process.stdout.write(`http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${address.port}/mcp\n`);
});

for (const name of ['SIGTERM', 'SIGINT']) {
  process.once(name, () => {
    server.close();
    server.closeAllConnections();
  });
}
