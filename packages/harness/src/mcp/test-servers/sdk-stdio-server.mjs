import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createServer } from './sdk-tools.mjs';

await createServer().connect(new StdioServerTransport());
