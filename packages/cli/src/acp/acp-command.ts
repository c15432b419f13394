import { resolve } from 'node:path';
import { Command } from 'commander';
import {
  type GivenAgentOptions,
  type OptionSurroundings,
  sessionsFolder,
  toAgentSettings,
  withAgentOptions,
} from '../agent-options.js';
import { wholeNumber } from '../read-values.js';
import type { AcpSettings } from './acp-settings.js';

const DEFAULT_MAX_SESSIONS = 100;

const HELP_END = `
Started by an editor or another program that speaks the Agent Client Protocol. The standard output is the protocol's,
logs are on the standard error. Ends when the standard input ends.`;

interface GivenOptions extends GivenAgentOptions {
  readonly maxSessions?: number;
}

/** `accept` gets what the command asks for. */
export function acpCommand(surroundings: OptionSurroundings, accept: (settings: AcpSettings) => void): Command {
  const command = new Command('acp').description(
    'Be an agent for an editor: Agent Client Protocol on stdin and stdout',
  );
  return withAgentOptions(command, 'where paths of these options begin (default: where you are)')
    .option('--max-sessions <n>', `open at the same time (default: ${DEFAULT_MAX_SESSIONS})`, wholeNumber)
    .addHelpText('after', HELP_END)
    .action((given: GivenOptions) => {
      const from = { ...surroundings, cwd: resolve(surroundings.cwd, given.cwd ?? '.') };
      accept({
        agent: toAgentSettings(given, from),
        sessionsDir: sessionsFolder(given, from),
        maxSessions: given.maxSessions ?? DEFAULT_MAX_SESSIONS,
      });
    });
}
