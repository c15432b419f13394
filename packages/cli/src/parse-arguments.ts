import { Command, CommanderError, Option } from 'commander';
import { a2aCommands } from './a2a/a2a-commands.js';
import type { A2aSettings } from './a2a/a2a-settings.js';
import { acpCommand } from './acp/acp-command.js';
import type { AcpSettings } from './acp/acp-settings.js';
import { type GivenAgentOptions, sessionsFolder, toAgentSettings, withAgentOptions } from './agent-options.js';
import { type ProxySettings, proxyCommands } from './proxy-commands.js';
import { set } from './read-values.js';
import type { RunSettings, SessionChoice } from './run-settings.js';
import { UsageError } from './usage-error.js';

export interface ParseOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** True if input and output are a terminal that can be drawn on. */
  readonly isInteractive: boolean;
  readonly version: string;
}

/** What the command line asks for. */
export type ParsedArguments =
  | { readonly type: 'run'; readonly settings: RunSettings }
  | { readonly type: 'acp'; readonly settings: AcpSettings }
  | { readonly type: 'a2a'; readonly settings: A2aSettings }
  | { readonly type: 'proxy'; readonly settings: ProxySettings }
  /** Help or a version: nothing to do but to show it. */
  | { readonly type: 'text'; readonly text: string };

const SESSION_ID = /^[A-Za-z0-9._-]{1,64}$/u;

const HELP_END = `
Environment: OPENAI_API_KEY, OPENAI_MODEL, OPENAI_BASE_URL and others of the model; PARLEY_HOME (default ~/.parley);
NO_COLOR. Without a key the offline model answers.

Exit codes of --print: 0 completed, 1 failed, 130 stopped; 2 for options that cannot be.`;

/** @throws UsageError with one line for whoever typed it. */
export function parseArguments(argv: readonly string[], options: ParseOptions): ParsedArguments {
  const written: string[] = [];
  let parsed: ParsedArguments | undefined;
  const program = new Command('parley')
    .description('Agents in the terminal')
    .version(options.version, '-V, --version', 'show the version')
    .helpCommand(false)
    .configureOutput({ writeOut: (text) => written.push(text), writeErr: () => undefined })
    .exitOverride();
  const run = runCommand().action((words: string[], given: GivenOptions) => {
    parsed = { type: 'run', settings: toSettings(words, given, options) };
  });
  const acp = acpCommand(options, (settings) => (parsed = { type: 'acp', settings }));
  const a2a = a2aCommands(options.cwd, (settings) => (parsed = { type: 'a2a', settings }));
  const proxy = proxyCommands(options, (settings) => (parsed = { type: 'proxy', settings }));
  for (const command of [run, acp, ...a2a, ...proxy]) program.addCommand(inheriting(command, program));
  try {
    program.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { type: 'text', text: written.join('') };
    if (error.code === 'commander.help') return { type: 'text', text: helpOf(program, argv) };
    throw new UsageError(error.message.replace(/^error: /u, '').replace(/\s*\n\s*/gu, ' '), { cause: error });
  }
  return parsed ?? { type: 'text', text: program.helpInformation() };
}

/** Of a command that has others below it and was given without one, or of the program. */
function helpOf(program: Command, argv: readonly string[]): string {
  return (program.commands.find((command) => command.name() === argv[0]) ?? program).helpInformation();
}

/** A command that was made apart does not know where to write; nor do those below it. */
function inheriting(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent);
  for (const below of command.commands) inheriting(below, command);
  return command;
}

interface GivenOptions extends GivenAgentOptions {
  readonly session?: string;
  readonly resume?: string | true | undefined;
  readonly fork?: string;
  readonly sessions?: true;
  readonly print?: true;
  readonly json?: true;
}

function runCommand(): Command {
  const command = new Command('run')
    .description('Work on a task, or talk with an agent about several')
    .argument('[task...]', 'what to do; `-` stands for the standard input');
  return withAgentOptions(command, 'folder in which files and commands are (default: where you are)')
    .addOption(new Option('--session <id>', 'a session by its id, new or not').conflicts(['resume', 'fork']))
    .addOption(new Option('-r, --resume [id]', 'go on with a session; the latest without an id').conflicts('fork'))
    .option('--fork <id>', 'go on in a copy of a session')
    .option('--sessions', 'list the stored sessions')
    .option('-p, --print', 'work on the task, print the answer, leave')
    .option('--json', 'as --print, but prints every event as a line of JSON')
    .addHelpText('after', HELP_END);
}

function toSettings(words: readonly string[], given: GivenOptions, options: ParseOptions): RunSettings {
  return {
    agent: toAgentSettings(given, options),
    session: chooseSession(given),
    sessionsDir: sessionsFolder(given, options),
    mode: chooseMode(given, options),
    task: set([...misplaced(given), ...words].filter((word) => word !== '-').join(' ')),
    readsInput: words.includes('-'),
  };
}

function chooseSession({ session, resume, fork }: GivenOptions): SessionChoice {
  if (fork !== undefined) return { type: 'fork', ref: fork };
  if (resume === true || misplaced({ resume }).length > 0) return { type: 'latest' };
  if (resume !== undefined) return { type: 'resume', ref: resume };
  if (session === undefined) return { type: 'new' };
  if (!SESSION_ID.test(session)) {
    throw new UsageError('--session takes 1 to 64 letters, digits, dots, dashes or underscores');
  }
  return { type: 'new', id: session };
}

/** `--resume "go on with it"`: no id has blanks, so that is the task, and the latest session is meant. */
function misplaced({ resume }: Pick<GivenOptions, 'resume'>): string[] {
  return typeof resume === 'string' && /\s/u.test(resume) ? [resume] : [];
}

function chooseMode(given: GivenOptions, { isInteractive }: ParseOptions): RunSettings['mode'] {
  if (given.sessions === true) return 'list-sessions';
  if (given.json === true) return 'json';
  return given.print === true || !isInteractive ? 'print' : 'interactive';
}
