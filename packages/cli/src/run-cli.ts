import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { JsonlSessionStorage, loadMcpConfig, messageOf } from '@parley/harness';
import { chooseModel, type ChosenModel } from './agent/choose-model.js';
import { makeAgent } from './agent/make-agent.js';
import type { CliIo } from './cli-io.js';
import type { AgentPorts } from './interactive/run-interactive.js';
import { parseArguments } from './parse-arguments.js';
import { OutputWriter } from './print/output-writer.js';
import { PrintRun } from './print/print-run.js';
import { readTask } from './print/read-task.js';
import { runProxy } from './proxy-commands.js';
import type { AgentSettings, RunSettings, SessionChoice } from './run-settings.js';
import { sessionRows } from './sessions/render-sessions.js';
import type { OpenSession, Sessions } from './sessions/sessions.js';
import { AGENT_ID, StoredSessions } from './sessions/stored-sessions.js';
import { neutraliseLine } from './ui/neutralise.js';
import { UsageError } from './usage-error.js';

const USAGE_EXIT_CODE = 2;
const CRASH_EXIT_CODE = 1;

/** The whole program. Never rejects. @returns the exit code. */
export async function runCli(argv: readonly string[], io: CliIo, version: string): Promise<number> {
  try {
    const isInteractive = io.stdin.isTTY === true && io.stdout.isTTY === true && io.env['TERM'] !== 'dumb';
    const parsed = parseArguments(argv, { env: io.env, cwd: io.cwd, isInteractive, version });
    // What only one command needs is loaded by it: a host waits for the start of `acp`, a script for that of others.
    if (parsed.type === 'acp') {
      const { runAcp } = await import('./acp/run-acp.js');
      await checkPaths(parsed.settings.agent);
      return await runAcp(parsed.settings, io, version);
    }
    if (parsed.type === 'a2a') {
      const { runA2a } = await import('./a2a/run-a2a.js');
      return await runA2a(parsed.settings, io);
    }
    if (parsed.type === 'proxy') return await runProxy(parsed.settings, io);
    if (parsed.type === 'run') return await runWith(parsed.settings, io, version);
    await new OutputWriter(io.stdout).write(parsed.text);
    return 0;
  } catch (error) {
    // No stack: what went wrong is for the person who started the program.
    await new OutputWriter(io.stderr).write(`parley: ${neutraliseLine(messageOf(error))}\n`);
    return error instanceof UsageError ? USAGE_EXIT_CODE : CRASH_EXIT_CODE;
  }
}

async function runWith(settings: RunSettings, io: CliIo, version: string): Promise<number> {
  const storage = new JsonlSessionStorage(settings.sessionsDir);
  try {
    if (settings.mode === 'list-sessions') return await listSessions(settings, io, storage);
    await checkPaths(settings.agent);
    const model = chooseModel(settings.agent, io.env);
    const connect = (
      ports: Omit<AgentPorts, 'askApproval'> & Partial<Pick<AgentPorts, 'askApproval'>>,
    ): StoredSessions =>
      new StoredSessions({
        storage,
        makeAgent: (journal) =>
          makeAgent(settings.agent, model.make(), journal, {
            agentId: AGENT_ID,
            onEvent: ports.onEvent,
            askApproval: ports.askApproval,
            warn: ports.warn,
          }),
        now: io.now,
        randomHex: () => randomBytes(2).toString('hex'),
      });
    if (settings.mode === 'interactive') return await converse(settings, io, version, model, connect);
    return await printOnce(settings, io, model, connect);
  } finally {
    await storage.close();
  }
}

async function converse(
  settings: RunSettings,
  io: CliIo,
  version: string,
  model: ChosenModel,
  connect: (ports: AgentPorts) => Sessions,
): Promise<number> {
  const { agent, session, task } = settings;
  const { runInteractive } = await import('./interactive/run-interactive.js');
  const offline = model.offlineBecause === undefined ? '' : ` (no model is behind it: ${model.offlineBecause})`;
  return runInteractive({
    io,
    connect,
    open: (sessions) => openChosen(sessions, session),
    task,
    header: [`parley ${version} · ${model.name}${offline} · ${agent.cwd}`, '/help lists commands and keys'],
    facts: [
      ['model', `${model.name}${offline}`],
      ['folder', agent.cwd],
      ['allowed', [...agent.allowed].join(', ') || 'nothing without asking'],
    ],
  });
}

async function printOnce(
  settings: RunSettings,
  io: CliIo,
  model: ChosenModel,
  connect: (ports: Omit<AgentPorts, 'askApproval'>) => Sessions,
): Promise<number> {
  const run = new PrintRun(io, settings.mode === 'json');
  const task = await readTask(settings, io.stdin, (message) => run.warn(message));
  const sessions = connect({ onEvent: (event) => run.onEvent(event), warn: (message) => void run.warn(message) });
  const session = await openChosen(sessions, settings.session);
  if (model.offlineBecause !== undefined) {
    await run.warn(`the offline model answers, no model is behind it: ${model.offlineBecause}`);
  }
  return run.run(session, task);
}

async function listSessions(settings: RunSettings, io: CliIo, storage: JsonlSessionStorage): Promise<number> {
  const noAgent = (): never => {
    throw new Error('a list needs no agent');
  };
  const sessions = new StoredSessions({ storage, makeAgent: noAgent, now: io.now, randomHex: noAgent });
  const rows = sessionRows(await sessions.list());
  const out = new OutputWriter(io.stdout);
  for (const row of rows) await out.write(`${row}\n`);
  if (rows.length === 0) await new OutputWriter(io.stderr).write(`parley: no session in ${settings.sessionsDir}\n`);
  return 0;
}

async function openChosen(sessions: Sessions, choice: SessionChoice): Promise<OpenSession> {
  switch (choice.type) {
    case 'new':
      return sessions.create(choice.id);
    case 'resume':
      return sessions.open(choice.ref);
    case 'fork':
      return sessions.fork(choice.ref);
    case 'latest': {
      const [latest] = await sessions.list(1);
      if (latest === undefined) throw new UsageError('there is no session to go on with');
      return sessions.open(latest.ref);
    }
  }
}

/** What would fail at the first task is told before anything begins. */
async function checkPaths({ cwd, skillsDir, mcpFile }: AgentSettings): Promise<void> {
  for (const path of [cwd, skillsDir]) {
    if (path !== undefined && statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new UsageError(`${path} is not a folder`);
    }
  }
  if (mcpFile === undefined) return;
  await loadMcpConfig(mcpFile).catch((error: unknown) => {
    throw new UsageError(messageOf(error), { cause: error });
  });
}
