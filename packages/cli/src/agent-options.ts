import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Allowance, ALLOWANCES } from './agent/approvals.js';
import { set, wholeNumber } from './read-values.js';
import type { AgentSettings } from './run-settings.js';

const DEFAULT_MAX_STEPS = 50;
const DEFAULT_CONTEXT_TOKENS = 128_000;

/** What was typed for an agent of this program. */
export interface GivenAgentOptions {
  readonly model?: string;
  readonly baseUrl?: string;
  readonly offline?: true;
  readonly systemPrompt?: string;
  readonly cwd?: string;
  readonly sessionsDir?: string;
  readonly allow?: readonly Allowance[];
  readonly yes?: true;
  readonly maxSteps?: number;
  readonly maxTokens?: number;
  readonly contextTokens?: number;
  readonly skills?: string;
  readonly mcp?: string;
}

export interface OptionSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** Adds the options of every command that runs an agent here. */
export function withAgentOptions(command: Command, cwdMeaning: string): Command {
  return command
    .option('-m, --model <name>', 'model (OPENAI_MODEL)')
    .option('--base-url <url>', 'server that speaks chat completions (OPENAI_BASE_URL)')
    .addOption(new Option('--offline', 'the built-in model, no network').conflicts(['model', 'baseUrl']))
    .option('--system-prompt <text>', 'replaces the built-in one')
    .option('-C, --cwd <dir>', cwdMeaning)
    .option('--sessions-dir <dir>', 'where sessions are (default: PARLEY_HOME/sessions)')
    .option('--allow <what>', 'runs without asking: read, write, shell, all or none (default: read)', allowances)
    .option('-y, --yes', 'the same as --allow all')
    .option('--max-steps <n>', `requests to the model per task (default: ${DEFAULT_MAX_STEPS})`, wholeNumber)
    .option('--max-tokens <n>', 'tokens per task (default: no limit)', wholeNumber)
    .option('--context-tokens <n>', `the model's window (default: ${DEFAULT_CONTEXT_TOKENS})`, wholeNumber)
    .option('--skills <dir>', 'folder whose children hold a SKILL.md')
    .option('--mcp <file>', 'file that names MCP servers');
}

export function toAgentSettings(given: GivenAgentOptions, { cwd }: OptionSurroundings): AgentSettings {
  const inFolder = (path: string): string => resolve(cwd, path);
  return {
    isOffline: given.offline === true,
    model: given.model,
    baseUrl: given.baseUrl,
    contextTokens: given.contextTokens ?? DEFAULT_CONTEXT_TOKENS,
    cwd: inFolder(given.cwd ?? '.'),
    systemPrompt: given.systemPrompt,
    skillsDir: given.skills === undefined ? undefined : inFolder(given.skills),
    mcpFile: given.mcp === undefined ? undefined : inFolder(given.mcp),
    allowed: new Set(given.yes === true ? (['all'] as const) : (given.allow ?? (['read'] as const))),
    maxSteps: given.maxSteps ?? DEFAULT_MAX_STEPS,
    maxTokens: given.maxTokens,
  };
}

/** Absolute. */
export function sessionsFolder({ sessionsDir }: GivenAgentOptions, { env, cwd }: OptionSurroundings): string {
  const home = set(env['PARLEY_HOME']) ?? join(homedir(), '.parley');
  return resolve(cwd, sessionsDir ?? join(home, 'sessions'));
}

/** `read,write` and several `--allow` add up. */
function allowances(value: string, before: readonly Allowance[] = []): Allowance[] {
  const words = value.split(',').map((word) => word.trim());
  if (words.length === 1 && words[0] === 'none') return [...before];
  return [
    ...before,
    ...words.map((word) => {
      const found = ALLOWANCES.find((one) => one === word);
      if (found === undefined) throw new InvalidArgumentError(`It takes ${ALLOWANCES.join(', ')} or none.`);
      return found;
    }),
  ];
}
