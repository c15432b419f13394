import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { type AcpAgentSession, type AcpCommand, FileSessionDirectory, serveAcp } from '@parley/acp';
import {
  type AgentApi,
  type HarnessLogger,
  JsonlSessionStorage,
  OpenTelemetryObserver,
  SkillManager,
} from '@parley/harness';
import { type ChosenModel, chooseModel } from '../agent/choose-model.js';
import { makeAgent } from '../agent/make-agent.js';
import type { CliIo } from '../cli-io.js';
import type { AgentSettings } from '../run-settings.js';
import { newSessionId } from '../sessions/session-ref.js';
import { AGENT_ID } from '../sessions/stored-sessions.js';
import { onStopSignals } from '../stop-signals.js';
import { neutraliseLine } from '../ui/neutralise.js';
import { UsageError } from '../usage-error.js';
import { warnLogger } from '../warn-logger.js';
import type { AcpSettings } from './acp-settings.js';
import { deleteSession } from './delete-session.js';
import { takeOutput } from './protocol-output.js';
import { permissionsOf, sessionModes } from './session-modes.js';

/**
 * `parley acp`: serves the program on the other side of stdin and stdout until it leaves or a signal comes.
 *
 * @returns the exit code. @throws UsageError for a model that cannot be.
 */
export async function runAcp(settings: AcpSettings, io: CliIo, version: string): Promise<number> {
  const { agent, sessionsDir, maxSessions } = settings;
  if (!(io.stdin instanceof Readable) || !(io.stdout instanceof Writable) || !(io.stderr instanceof Writable)) {
    throw new UsageError('acp needs a standard input and output');
  }
  const { stderr } = io;
  const warn = (message: string): void => void stderr.write(`parley: ${neutraliseLine(message)}\n`);
  // Nobody reads the log any more: that is no reason to end.
  stderr.on('error', () => undefined);
  const logger = warnLogger(warn);
  const model = chooseModel(agent, io.env);
  const commands = await skillCommands(agent.skillsDir, logger);
  if (model.offlineBecause !== undefined)
    warn(`the offline model answers, no model is behind it: ${model.offlineBecause}`);
  const storage = new JsonlSessionStorage(sessionsDir, { logger });
  const output = takeOutput(io.stdout, stderr);
  let exitCode = 0;
  const server = serveAcp({
    input: io.stdin,
    output: output.stream,
    info: { name: 'parley', title: 'Parley', version },
    agentId: AGENT_ID,
    makeAgent: (session) => agentOf(session, agent, model, warn),
    storage,
    directory: new FileSessionDirectory(join(sessionsDir, 'acp'), { logger }),
    deleteSession: (sessionId) => deleteSession(storage, sessionsDir, sessionId),
    modes: sessionModes(agent.allowed),
    commands,
    contextWindowTokens: agent.contextTokens,
    maxSessions,
    logger,
    now: io.now,
    newSessionId: () => `${newSessionId(io.now(), randomBytes(2).toString('hex'))}${randomBytes(4).toString('hex')}`,
  });
  const endListening = onStopSignals(io.process, (code) => {
    exitCode = code;
    void server.close();
  });
  try {
    await server.closed;
    return exitCode;
  } finally {
    endListening();
    await output.release();
    await storage.close();
  }
}

function agentOf(
  session: AcpAgentSession,
  settings: AgentSettings,
  model: ChosenModel,
  warn: (message: string) => void,
): AgentApi {
  return makeAgent({ ...settings, cwd: session.cwd }, model.make(), session.journal, {
    agentId: AGENT_ID,
    onEvent: session.onEvent,
    askApproval: undefined,
    approver: { approve: session.askApproval },
    permissions: () => permissionsOf(session.mode, settings.allowed),
    mcpServers: session.mcpServers,
    middlewares: [session.toolWatch],
    observers: [new OpenTelemetryObserver()],
    warn,
  });
}

/** Skills can be asked for by their names. */
async function skillCommands(skillsDir: string | undefined, logger: HarnessLogger): Promise<AcpCommand[]> {
  if (skillsDir === undefined) return [];
  const manager = new SkillManager(skillsDir, { logger });
  await manager.start();
  return manager.skills.map(({ name, description }) => ({ name, description, hint: 'what to do with it' }));
}
