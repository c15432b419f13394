// Tools of an MCP server, found when the agent starts.
import { join } from 'node:path';
import { Agent, call, McpToolHandler, modelFromEnv, say, ScriptedModel } from '@parley/harness';

const mcp = new McpToolHandler({
  mcpServers: { clock: { command: process.execPath, args: [join(import.meta.dirname, 'mcp', 'clock-server.mjs')] } },
});
const script = new ScriptedModel([
  say(null, call('c1', 'clock__days_between', { from: '2024-02-28', to: '2024-03-01' })),
  say('There are 2 days between them.'),
]);
const agent = new Agent(modelFromEnv(process.env, { offline: script }), { agentId: 'calendar', handlers: [mcp] });

const result = await agent.run('How many days are there between 28 February and 1 March 2024?');
console.log(mcp.tools.map(({ name }) => name).join(' ')); // clock__days_between
for (const message of agent.messages) if (message.role === 'tool') console.log(message.content); // 2
console.log(result.output); // There are 2 days between them.
await agent.shutdown();
