import { messageOf } from '@parley/harness';
import type { OpenSession, Sessions } from '../sessions/sessions.js';
import { sessionRows } from '../sessions/render-sessions.js';
import { type Block, gap, line, text } from '../ui/block.js';
import { neutraliseLine } from '../ui/neutralise.js';
import { counted } from '../ui/numbers.js';
import { choiceQuestion, renderChoice } from './pick-session.js';
import type { Question } from './questions.js';
import { helpRows, needsIdle, type SlashCommand } from './slash-commands.js';
import type { UsageTally } from './usage-tally.js';

/** What a command can do with the shell it was given in. */
export interface CommandTarget {
  readonly session: OpenSession;
  readonly sessions: Sessions;
  readonly usage: UsageTally;
  /** True while a run, a compaction or a change of session goes on. */
  readonly isBusy: boolean;
  /** What does not change: model, folder, allowances. */
  readonly facts: readonly (readonly [string, string])[];
  print(blocks: readonly Block[]): void;
  ask<T>(question: Question<T>): Promise<T>;
  /** Counts as busy until `work` has settled; a failure is told. */
  track(work: Promise<unknown>): void;
  switchTo(open: () => Promise<OpenSession>): Promise<void>;
  /** Given up with Ctrl-C. */
  compact(): Promise<unknown>;
  leave(): void;
}

/** Does what a command says. What goes wrong is told, never thrown. */
export async function runCommand(command: SlashCommand, target: CommandTarget): Promise<void> {
  if (needsIdle(command.name) && target.isBusy) {
    tell(target, `/${command.name} has to wait: something is running (Ctrl-C stops it)`, 'warn');
    return;
  }
  try {
    await COMMANDS[command.name](target, command.rest);
  } catch (error) {
    tell(target, neutraliseLine(messageOf(error)), 'bad');
  }
}

type Command = (target: CommandTarget, rest: string) => Promise<void> | void;

const COMMANDS: Readonly<Record<SlashCommand['name'], Command>> = {
  help: (target) => target.print(table(helpRows())),
  followup: followUp,
  continue: continueRun,
  compact: (target) => target.track(target.compact()),
  status: (target) => target.print(table(statusRows(target))),
  usage: (target) => target.print(target.usage.render()),
  sessions: listSessions,
  new: (target) => target.switchTo(() => target.sessions.create()),
  resume,
  fork: (target) => target.switchTo(() => target.sessions.fork(target.session.ref)),
  quit: (target) => target.leave(),
};

function followUp(target: CommandTarget, rest: string): void {
  if (rest === '') {
    tell(target, '/followup needs a text', 'warn');
    return;
  }
  const { agent } = target.session;
  const handle = agent.followUp(rest);
  if (!handle.accepted) {
    // Nothing runs that it could follow: it is a task like any other.
    if (handle.receipt.status === 'agent_idle') {
      target.track(agent.run(rest));
      return;
    }
    tell(target, `not accepted (${handle.receipt.status}): ${neutraliseLine(rest)}`, 'warn');
    return;
  }
  tell(target, `follow-up ${handle.receipt.queueSize}: ${neutraliseLine(rest)}`, 'dim');
  // It is no run yet: as long as it waits, other commands may come.
  handle.wait().catch((error: unknown) => {
    tell(target, `follow-up dropped (${neutraliseLine(messageOf(error))}): ${neutraliseLine(rest)}`, 'warn');
  });
}

function continueRun(target: CommandTarget): void {
  const { agent } = target.session;
  if (!agent.canContinue) {
    tell(target, `cannot continue: ${agent.continueRejectionReason ?? 'no reason given'}`, 'warn');
    return;
  }
  target.track(agent.continueRun());
}

async function listSessions(target: CommandTarget): Promise<void> {
  const sessions = await target.sessions.list();
  if (sessions.length === 0) {
    tell(target, 'no stored session', 'dim');
    return;
  }
  target.print([gap, ...sessionRows(sessions).map((row) => line({ text: row }))]);
}

async function resume(target: CommandTarget, rest: string): Promise<void> {
  if (rest !== '') return target.switchTo(() => target.sessions.open(rest));
  const sessions = (await target.sessions.list()).filter(({ ref }) => ref !== target.session.ref);
  if (sessions.length === 0) {
    tell(target, 'no other stored session', 'dim');
    return;
  }
  target.print(renderChoice(sessions));
  const chosen = await target.ask(choiceQuestion(sessions));
  if (chosen === null) {
    tell(target, 'nothing chosen', 'dim');
    return;
  }
  await target.switchTo(() => target.sessions.open(chosen.ref));
}

function statusRows(target: CommandTarget): (readonly [string, string])[] {
  const { agent, ref } = target.session;
  const last = agent.lastResult;
  return [
    ['session', ref],
    ['state', target.isBusy ? 'busy' : 'idle'],
    ['history', counted(agent.messages.length, 'message')],
    ['last run', last === null ? 'none' : `${last.status} (${last.stopReason})`],
    ...target.facts,
  ];
}

function table(rows: readonly (readonly [string, string])[]): Block[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    gap,
    ...rows.map(([name, value]) =>
      line({ text: name.padEnd(width + 2), tone: 'bold' }, { text: neutraliseLine(value) }),
    ),
  ];
}

function tell(target: Pick<CommandTarget, 'print'>, message: string, tone: 'dim' | 'warn' | 'bad'): void {
  target.print([gap, text(message, tone)]);
}
