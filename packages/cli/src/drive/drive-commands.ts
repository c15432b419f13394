import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { proxyOption, proxyUrl } from '../proxy-option.js';
import { seconds, set, wholeNumber } from '../read-values.js';
import { UsageError } from '../usage-error.js';
import type { DriveSettings, DriveTarget, SendSettings } from './drive-settings.js';
import { capability, capabilityOption, registryOption, registryUrl } from './registry-option.js';

const DEFAULT_CONCURRENCY = 4;
const DEFAULT_MAX_STEPS = 50;
const DEFAULT_CONTEXT_TOKENS = 128_000;

const DRIVE_HELP_END = `
With --proxy, the token is that of --token-file, else PARLEY_PROXY_TOKEN, else one that is made for this proxy and kept in
PARLEY_HOME/proxies: a driver that is started again goes on with the turns that are open.
With --registry, a proxy that is free agrees to be played by nobody else until the driver ends, and a token is made for
it. When it is lost, another one is played; turns that were open stay there for its next driver.
Without OPENAI_API_KEY the offline driver answers: it runs fenced \`\`\`bash blocks and lines that begin with "$ ", and
calls tools named in lines such as: tool add {"a": 1, "b": 2}

Ctrl-C takes no more turns and plays those in play to their end; once more: leaves them open.

Exit codes: 0 all turns played, 1 the proxy is another's or cannot be reached, or none is to be had, 130 stopped; 2 for
options that cannot be.`;

const SEND_HELP_END = `
The answer is on the standard output, what becomes of the task on the standard error. Ctrl-C cancels the task.

Exit codes: 0 completed, 1 failed or canceled, 130 interrupted; 2 for options that cannot be.`;

interface GivenDrive {
  readonly proxy?: string;
  readonly registry?: string;
  readonly capability?: string;
  readonly tokenFile?: string;
  readonly once?: true;
  readonly maxTurns?: number;
  readonly concurrency?: number;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly offline?: true;
  readonly maxSteps?: number;
  readonly contextTokens?: number;
  readonly json?: true;
}

interface GivenSend {
  readonly proxy: string;
  readonly context?: string;
  readonly detach?: true;
  readonly timeout?: number;
  readonly json?: true;
}

export interface CommandSurroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** `parley drive` and `parley send`; `accept` gets what the one that was given asks for. */
export function driveCommands(
  surroundings: CommandSurroundings,
  accept: (settings: DriveSettings | SendSettings) => void,
): Command[] {
  const drive = new Command('drive')
    .description('Play a proxy: answer its turns with a model')
    .addOption(new Option('--proxy <url>', 'the proxy'))
    .addOption(registryOption())
    .addOption(capabilityOption())
    .option('--token-file <file>', "holds the driver's token")
    .addOption(new Option('--once', 'one turn, the same as --max-turns 1').conflicts('maxTurns'))
    .option('--max-turns <n>', 'ends after so many turns (default: no end)', wholeNumber)
    .option('--concurrency <n>', `turns at a time (default: ${DEFAULT_CONCURRENCY})`, wholeNumber)
    .option('-m, --model <name>', 'model (OPENAI_MODEL)')
    .option('--base-url <url>', 'server that speaks chat completions (OPENAI_BASE_URL)')
    .addOption(new Option('--offline', 'the built-in driver, no model').conflicts(['model', 'baseUrl']))
    .option('--max-steps <n>', `requests to the model per turn (default: ${DEFAULT_MAX_STEPS})`, wholeNumber)
    .option('--context-tokens <n>', `the model's window (default: ${DEFAULT_CONTEXT_TOKENS})`, wholeNumber)
    .option('--json', 'prints what happens as lines of JSON')
    .addHelpText('after', DRIVE_HELP_END)
    .action((given: GivenDrive) => accept(toDrive(given, surroundings)));
  const send = new Command('send')
    .description('Send a proxy, or another agent of protocol 0.3, a message, and wait for the answer')
    .argument('[text...]', 'what to do; `-` stands for the standard input')
    .addOption(proxyOption())
    .option('--context <id>', 'goes on in a context')
    .option('--detach', 'prints the id of the task and leaves')
    .option('--timeout <seconds>', 'cancels the task after so long', seconds)
    .option('--json', 'prints the task as JSON')
    .addHelpText('after', SEND_HELP_END)
    .action((words: string[], given: GivenSend) => accept(toSend(words, given)));
  return [drive, send];
}

function toDrive(given: GivenDrive, surroundings: CommandSurroundings): DriveSettings {
  return {
    type: 'drive',
    target: toTarget(given, surroundings),
    model: {
      isOffline: given.offline === true,
      model: given.model,
      baseUrl: given.baseUrl,
      contextTokens: given.contextTokens ?? DEFAULT_CONTEXT_TOKENS,
    },
    maxTurns: given.once === true ? 1 : given.maxTurns,
    concurrency: given.concurrency ?? DEFAULT_CONCURRENCY,
    maxSteps: given.maxSteps ?? DEFAULT_MAX_STEPS,
    isJson: given.json === true,
  };
}

function toTarget(given: GivenDrive, { cwd, env }: CommandSurroundings): DriveTarget {
  if (given.registry !== undefined) {
    return { type: 'registry', url: registryUrl(given.registry), capability: capability(given.capability) };
  }
  if (given.proxy === undefined) throw new UsageError('a proxy is needed: --proxy URL, or --registry URL to find one');
  const home = set(env['PARLEY_HOME']) ?? join(homedir(), '.parley');
  return {
    type: 'proxy',
    url: proxyUrl(given.proxy),
    tokenFile: given.tokenFile === undefined ? undefined : resolve(cwd, given.tokenFile),
    stateDir: resolve(cwd, home, 'proxies'),
  };
}

function toSend(words: readonly string[], given: GivenSend): SendSettings {
  return {
    type: 'send',
    proxyUrl: proxyUrl(given.proxy),
    text: set(words.filter((word) => word !== '-').join(' ')),
    readsInput: words.includes('-'),
    contextId: given.context,
    detaches: given.detach === true,
    timeoutMs: given.timeout === undefined ? undefined : given.timeout * 1_000,
    isJson: given.json === true,
  };
}
