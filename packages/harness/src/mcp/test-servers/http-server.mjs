// Streamable HTTP on loopback, with switches under /control. Prints its port when it listens.
import { createServer as createHttpServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createServer } from './sdk-tools.mjs';

const enableJsonResponse = process.argv.includes('--json');
const port = Number(process.env.PORT ?? 0);
const sessions = new Map();
const counts = { initialize: 0, call: 0, cancelled: 0, deleted: 0 };
let refusals = 0;
let swallow = false;

async function bodyOf(request) {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text === '' ? undefined : JSON.parse(text);
}

function answer(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function control(path, response) {
  if (path === '/control/503') refusals += 1;
  if (path === '/control/forget') sessions.clear();
  if (path === '/control/swallow') swallow = true;
  answer(response, 200, { ...counts, sessions: sessions.size });
}

async function open(request, response, body) {
  counts.initialize += 1;
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse,
    onsessioninitialized: (id) => sessions.set(id, transport),
    onsessionclosed: (id) => {
      counts.deleted += 1;
      sessions.delete(id);
    },
  });
  await createServer().connect(transport);
  await transport.handleRequest(request, response, body);
}

const http = createHttpServer(async (request, response) => {
  if (request.url.startsWith('/control')) return control(request.url, response);
  const body = await bodyOf(request);
  if (body?.method === 'tools/call' && refusals > 0) {
    refusals -= 1;
    return answer(response, 503, { error: 'busy' });
  }
  if (body?.method === 'tools/call') counts.call += 1;
  if (body?.method === 'notifications/cancelled') counts.cancelled += 1;
  if (body?.method === 'tools/call' && swallow) {
    // Begins an answer and ends it without a result, as a server does that is stopped in the middle.
    swallow = false;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': working\n\n');
    return setTimeout(() => response.end(), 20);
  }
  if (body?.method === 'initialize') return open(request, response, body);
  const transport = sessions.get(request.headers['mcp-session-id']);
  if (transport === undefined) {
    return answer(response, 404, { jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null });
  }
  await transport.handleRequest(request, response, body);
});
http.listen(port, '127.0.0.1', () => process.stdout.write(`${http.address().port}\n`));
process.stdin.resume().on('end', () => process.exit(0));
