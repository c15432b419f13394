export interface SlashCommand {
  readonly name: SlashCommandName;
  /** Everything after the name, trimmed. */
  readonly rest: string;
}

interface CommandInfo {
  readonly usage: string;
  readonly does: string;
  /** True if it changes what runs: refused while something does. */
  readonly needsIdle?: boolean;
}

const COMMANDS = {
  help: { usage: '/help', does: 'commands and keys' },
  followup: { usage: '/followup TEXT', does: 'a task for after the running one' },
  continue: { usage: '/continue', does: 'go on without a new task', needsIdle: true },
  compact: { usage: '/compact', does: 'replace older history by a summary', needsIdle: true },
  status: { usage: '/status', does: 'session, model, folder, what is going on' },
  usage: { usage: '/usage', does: 'tokens of the last run and since the start' },
  sessions: { usage: '/sessions', does: 'stored sessions' },
  new: { usage: '/new', does: 'start a new session', needsIdle: true },
  resume: { usage: '/resume [ID]', does: 'go on with a stored session', needsIdle: true },
  fork: { usage: '/fork', does: 'go on in a copy of this session', needsIdle: true },
  quit: { usage: '/quit', does: 'leave' },
} as const satisfies Readonly<Record<string, CommandInfo>>;

export type SlashCommandName = keyof typeof COMMANDS;

const NAMES = Object.keys(COMMANDS) as SlashCommandName[];
const KEYS: readonly (readonly [string, string])[] = [
  ['Enter', 'send; while a task runs: steer it'],
  ['Alt-Enter, Ctrl-J, \\ Enter', 'new row'],
  ['Up, Down', 'rows, then earlier input'],
  ['Tab', 'complete a command'],
  ['Ctrl-A E B F, Alt-B F', 'move'],
  ['Ctrl-K U W Y', 'cut and put back'],
  ['Ctrl-C', 'stop the task; twice: leave'],
  ['Ctrl-D', 'leave'],
  ['Ctrl-L, Ctrl-Z', 'clear the screen, suspend'],
];

/** The command in a line, undefined if it is a task, `unknown` for a slash and a word that is no command. */
export function parseCommand(input: string): SlashCommand | 'unknown' | undefined {
  const found = /^\/(\S*)\s*([^]*)$/u.exec(input);
  if (found === null) return undefined;
  const name = NAMES.find((one) => one === found[1]);
  return name === undefined ? 'unknown' : { name, rest: (found[2] ?? '').trim() };
}

export function needsIdle(name: SlashCommandName): boolean {
  const info: CommandInfo = COMMANDS[name];
  return info.needsIdle === true;
}

/** The line with the command in it completed as far as it is the only one that fits. */
export function completeCommand(input: string): string {
  if (!/^\/\S*$/u.test(input)) return input;
  const fitting = NAMES.filter((name) => name.startsWith(input.slice(1)));
  const [first] = fitting;
  if (first === undefined) return input;
  if (fitting.length === 1) return `/${first} `;
  let shared = first.length;
  for (const name of fitting) while (!name.startsWith(first.slice(0, shared))) shared -= 1;
  return `/${first.slice(0, Math.max(shared, input.length - 1))}`;
}

/** Rows of two columns for /help. */
export function helpRows(): readonly (readonly [string, string])[] {
  return [...Object.values(COMMANDS).map(({ usage, does }) => [usage, does] as const), ...KEYS];
}
