import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

const IMAGE = Buffer.from('not really a picture').toString('base64');

/** A well-behaved server, made with the classes that most servers are made with. */
export function createServer() {
  const server = new McpServer({ name: 'test', version: '1.0.0' });
  const text = (value) => ({ content: [{ type: 'text', text: value }] });
  server.registerTool(
    'add',
    { description: 'Adds', inputSchema: { a: z.number(), b: z.number() }, annotations: { readOnlyHint: true } },
    ({ a, b }) => text(String(a + b)),
  );
  server.registerTool('lines', {}, () => ({ content: [text('one').content[0], text('two').content[0]] }));
  server.registerTool('table', { outputSchema: { k: z.array(z.number()) } }, () => ({
    content: [],
    structuredContent: { k: [1, 2] },
  }));
  server.registerTool('fails', {}, () => {
    throw new Error('the tool said no');
  });
  server.registerTool('media', {}, () => ({
    content: [
      { type: 'image', data: IMAGE, mimeType: 'image/png' },
      { type: 'audio', data: IMAGE, mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'file:///a.txt', name: 'a', mimeType: 'text/plain' },
      { type: 'resource', resource: { uri: 'file:///b.txt', mimeType: 'text/plain', text: 'inside' } },
      { type: 'resource', resource: { uri: 'file:///c.bin', blob: IMAGE } },
    ],
  }));
  server.registerTool('pid', {}, () => text(String(process.pid)));
  server.registerTool('die', {}, () => process.exit(3));
  server.registerTool('steps', {}, async (extra) => {
    const progressToken = extra._meta?.progressToken;
    for (let progress = 1; progress <= 3; progress += 1) {
      const params = { progressToken, progress, total: 3, message: `step ${progress}` };
      await extra.sendNotification({ method: 'notifications/progress', params });
    }
    return text('done');
  });
  server.registerTool(
    'slow',
    {},
    (extra) =>
      new Promise((resolve) => {
        extra.signal.addEventListener('abort', () => resolve(text('cancelled')));
        process.stderr.write('slow call began\n');
      }),
  );
  return server;
}
