import { ActionRunner } from './action-runner.js';
import { DriverActions } from './driver-actions.js';
import { DriverRecord } from './driver-record.js';
import { DriverTurns } from './driver-turns.js';
import { EngineCore } from './engine-core.js';
import type { ProxyEngineDeps } from './engine-options.js';
import type { ProxyEngine } from './engine-types.js';
import { KeptTasks } from './kept-tasks.js';
import { Registrations } from './registrations.js';
import { Restart } from './restart.js';
import { Sender } from './sender.js';
import { Shutdown } from './shutdown.js';
import { TurnCloser } from './turn-closer.js';
import { TurnOpener } from './turn-opener.js';

/**
 * The proxy without any wire; `start` comes before anything else. It closes what runs commands and calls tools; the log
 * and the recorder stay open, for whoever made them.
 */
export function createProxyEngine(deps: ProxyEngineDeps): ProxyEngine {
  const core = new EngineCore(deps);
  const kept = new KeptTasks(core);
  const runner = new ActionRunner(core);
  const opener = new TurnOpener(core);
  const closer = new TurnCloser(core, runner, opener, kept);
  const sender = new Sender(core, opener, closer, kept);
  const turns = new DriverTurns(core, closer);
  const actions = new DriverActions(core, runner);
  const record = new DriverRecord(core);
  const registrations = new Registrations(core);
  const restart = new Restart(core, deps.log, { sender, closer, opener, kept });
  const shutdown = new Shutdown(core, runner);
  return {
    submit: (message) => sender.submit(message),
    task: (taskId) => sender.task(taskId),
    tasks: () => sender.tasks(),
    opened: (taskId, signal) => sender.opened(taskId, signal),
    ended: (taskId, signal) => sender.ended(taskId, signal),
    cancel: (taskId) => sender.cancel(taskId),
    claim: (token, under) => turns.claim(token, under),
    release: (agreementId) => turns.release(agreementId),
    get claimed() {
      const { claim } = core.state;
      return claim && (claim.agreementId === undefined ? {} : { agreementId: claim.agreementId });
    },
    next: (ask) => turns.next(ask),
    tools: (ask) => record.tools(ask),
    act: (ask) => actions.act(ask),
    result: (ask) => actions.result(ask),
    cancelAction: (ask) => actions.cancelAction(ask),
    record: (ask) => record.record(ask),
    reply: (ask) => turns.reply(ask),
    configureAgent: (changes) => registrations.configureAgent(changes),
    get agentConfig() {
      return core.state.agentConfig;
    },
    addServer: (server) => registrations.addServer(server),
    removeServer: (name) => registrations.removeServer(name),
    get servers() {
      return core.state.servers;
    },
    addSkill: (skill) => registrations.addSkill(skill),
    get skills() {
      return core.state.skills;
    },
    hasShell: deps.commands !== undefined,
    get counts() {
      return core.counts();
    },
    start: () => restart.run(),
    close: (graceMs) => shutdown.run(graceMs),
  };
}
