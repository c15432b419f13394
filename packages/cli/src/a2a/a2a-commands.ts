import { resolve } from 'node:path';
import type { A2aTaskState, Scalar } from '@parley/agent';
import { Command, InvalidArgumentError, Option } from 'commander';
import { seconds, set, wholeNumber } from '../read-values.js';
import { UsageError } from '../usage-error.js';
import { type A2aSettings, BINDINGS, type Binding, type CallMode, type ConnectSettings } from './a2a-settings.js';
import { STATE_NAMES } from './states.js';

const DEFAULT_LIMIT = 50;

const CALL_HELP_END = `
The text of artifacts and answers is on the standard output, what becomes of the task on the standard error.
Ctrl-C cancels the remote task and waits for its end; once more: leaves.

Exit codes: 0 completed, 1 failed, rejected or canceled, 3 the agent asks for something (answer with --task),
130 interrupted; 2 for options that cannot be.`;

interface GivenConnection {
  readonly binding?: Binding;
  readonly header?: Readonly<Record<string, string>>;
  readonly timeout?: number;
  readonly json?: true;
}

interface GivenCall extends GivenConnection {
  readonly file?: readonly string[];
  readonly data?: readonly unknown[];
  readonly capability?: string;
  readonly param?: Readonly<Record<string, Scalar>>;
  readonly context?: string;
  readonly task?: string;
  readonly stream: boolean;
  readonly detach?: true;
}

interface GivenTasks extends GivenConnection {
  readonly context?: string;
  readonly status?: A2aTaskState;
  readonly limit?: number;
}

/** The commands that speak with an agent; `accept` gets what the one that was given asks for. */
export function a2aCommands(cwd: string, accept: (settings: A2aSettings) => void): Command[] {
  return [
    connecting('card', 'Show who an agent is and what it can do').action((url: string, given: GivenConnection) =>
      accept({ type: 'card', connect: toConnect(url, given) }),
    ),
    callCommand(cwd, accept),
    connecting('tasks', 'List the tasks of an agent, the latest first')
      .option('--context <id>', 'only those of a context')
      .option('--status <state>', `only those that are ${STATE_NAMES.join(', ')}`, taskState)
      .option('--limit <n>', `at most so many (default: ${DEFAULT_LIMIT})`, wholeNumber)
      .action((url: string, given: GivenTasks) =>
        accept({
          type: 'tasks',
          connect: toConnect(url, given),
          contextId: given.context,
          state: given.status,
          limit: given.limit ?? DEFAULT_LIMIT,
        }),
      ),
    connecting('task', 'Show a task')
      .argument('<id>', 'of the task')
      .option('--follow', 'stay until it ends or asks for something; Ctrl-C leaves, the task goes on')
      .action((url: string, taskId: string, given: GivenConnection & { readonly follow?: true }) =>
        accept({ type: 'task', connect: toConnect(url, given), taskId, follows: given.follow === true }),
      ),
    connecting('cancel', 'Cancel a task')
      .argument('<id>', 'of the task')
      .action((url: string, taskId: string, given: GivenConnection) =>
        accept({ type: 'cancel', connect: toConnect(url, given), taskId }),
      ),
  ];
}

function callCommand(cwd: string, accept: (settings: A2aSettings) => void): Command {
  return connecting('call', 'Have an agent work on something')
    .argument('[text...]', 'what to do; `-` stands for the standard input')
    .option('--file <path>', 'goes along as a part; may be given several times', collect(String))
    .option('--data <json>', 'goes along as a part; may be given several times', collect(json))
    .option('--capability <name>', 'what of all that the agent can do')
    .option('--param <key=value>', 'how it is to be done; may be given several times', parameter)
    .option('--context <id>', 'goes on in a context')
    .option('--task <id>', 'answers what a task asked for')
    .option('--no-stream', 'asks for the state now and then instead of following a stream')
    .addOption(new Option('--detach', 'prints the id of the task and leaves').conflicts('stream'))
    .addHelpText('after', CALL_HELP_END)
    .action((url: string, words: string[], given: GivenCall) =>
      accept({
        type: 'call',
        connect: toConnect(url, given),
        mode: chooseMode(given),
        message: {
          text: set(words.filter((word) => word !== '-').join(' ')),
          readsInput: words.includes('-'),
          files: (given.file ?? []).map((path) => resolve(cwd, path)),
          data: given.data ?? [],
          capability: given.capability,
          parameters: given.param ?? {},
          contextId: given.context,
          taskId: given.task,
        },
      }),
    );
}

/** A command whose first argument is an agent. */
function connecting(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument('<url>', 'the agent, or its card')
    .addOption(new Option('--binding <name>', 'wire to use (default: the first of the card)').choices(BINDINGS))
    .option('--header <name=value>', 'goes with every request; may be given several times', header)
    .option('--timeout <seconds>', 'gives up after so long', seconds)
    .option('--json', 'prints what comes as lines of JSON');
}

function toConnect(url: string, given: GivenConnection): ConnectSettings {
  return {
    url: agentUrl(url),
    binding: given.binding,
    headers: given.header ?? {},
    timeoutMs: given.timeout === undefined ? undefined : given.timeout * 1_000,
    isJson: given.json === true,
  };
}

/** `localhost:8001` is meant as it would be by a browser. */
function agentUrl(value: string): string {
  const url = /^[a-z][a-z0-9+.-]*:\/\//iu.test(value) ? value : `http://${value}`;
  const parsed = URL.parse(url);
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol)) {
    throw new UsageError(`${value} is not the URL of an agent: http or https`);
  }
  return url;
}

function chooseMode({ detach, stream }: GivenCall): CallMode {
  if (detach === true) return 'detach';
  return stream ? 'stream' : 'poll';
}

function collect<T>(read: (value: string) => T): (value: string, before?: readonly T[]) => T[] {
  return (value, before = []) => [...before, read(value)];
}

function json(value: string): unknown {
  try {
    return JSON.parse(value) as unknown;
  } catch {
    throw new InvalidArgumentError('It takes JSON.');
  }
}

function parameter(value: string, before: Readonly<Record<string, Scalar>> = {}): Readonly<Record<string, Scalar>> {
  const [key, text] = splitAt(value);
  return { ...before, [key]: scalar(text) };
}

/** `3` and `true` are what they look like; `"3"` in quotes is a text. */
function scalar(text: string): Scalar {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number') return Number.isFinite(value) ? value : text;
    return text;
  } catch {
    return text;
  }
}

function header(value: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const at = value.indexOf('=');
  const [name, text] = [value.slice(0, at).trim(), value.slice(at + 1)];
  // Not as the parser of options would say it: that shows the value, which may be a secret.
  if (at < 1 || !/^[\w!#$%&'*+.^`|~-]+$/u.test(name) || !/^[\t\u0020-\u007e\u0080-\u00ff]*$/u.test(text)) {
    throw new UsageError('--header takes a name, = and a value, as a header may have them');
  }
  return { ...before, [name.toLowerCase()]: text };
}

function splitAt(value: string): [key: string, text: string] {
  const at = value.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It takes a name, = and a value.');
  return [value.slice(0, at).trim(), value.slice(at + 1)];
}

function taskState(value: string): A2aTaskState {
  const name = STATE_NAMES.find((one) => one === value.toLowerCase().replaceAll('_', '-'));
  if (name === undefined) throw new InvalidArgumentError(`It takes ${STATE_NAMES.join(', ')}.`);
  return name.replaceAll('-', '_') as A2aTaskState;
}
