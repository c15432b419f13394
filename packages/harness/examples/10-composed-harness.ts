// Files, a shell, rules, checked arguments and a journal: the parts of a coding agent.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Agent,
  call,
  JsonlSessionStorage,
  modelFromEnv,
  openSession,
  RuleBasedToolPolicy,
  say,
  ScriptedModel,
  ToolPolicyMiddleware,
  ToolSchemaValidationMiddleware,
} from '@parley/harness';
import { FileTools, ShellTool } from '@parley/harness/tools';

const root = await mkdtemp(join(tmpdir(), 'harness-example-'));
const storage = new JsonlSessionStorage(join(root, '.sessions'));
const { journal } = await openSession({ storage, sessionId: 'demo', agentId: 'coder' });

const script = new ScriptedModel([
  say('First the file.', call('c1', 'write_file', { path: 'hello.sh', content: 'echo "hello from a script"\n' })),
  say('Now I run it.', call('c2', 'shell', { command: 'sh hello.sh' })),
  say('The script works.'),
]);
const agent = new Agent(modelFromEnv(process.env, { offline: script }), {
  agentId: 'coder',
  systemPrompt: 'You write small programs and try them.',
  handlers: [new FileTools({ root }), new ShellTool({ cwd: root })],
  middlewares: [
    new ToolSchemaValidationMiddleware(),
    new ToolPolicyMiddleware(
      new RuleBasedToolPolicy([
        { ruleId: 'writes', action: 'allow', tools: ['write_file', 'edit_file', 'shell'], maxCallsPerRun: 10 },
        { ruleId: 'reads', action: 'allow', effects: ['read_only'] },
      ]),
    ),
  ],
  runtimePolicy: { parallelToolCalls: true, maxSteps: 12, toolTimeoutMs: 30_000 },
  session: journal,
});

const result = await agent.run('Write hello.sh that says hello, and run it.');
console.log(await readFile(join(root, 'hello.sh'), 'utf8'));
for (const message of agent.messages) if (message.role === 'tool') console.log(message.content);
console.log(result.output); // The script works.
console.log((await storage.load('demo'))?.messages.length); // 6
await agent.shutdown();
await storage.close();
await rm(root, { recursive: true });
