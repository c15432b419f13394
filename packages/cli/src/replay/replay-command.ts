import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { proxyOption, proxyUrl } from '../proxy-option.js';
import { seconds, set } from '../read-values.js';
import { UsageError } from '../usage-error.js';
import type { ReplaySettings } from './replay-settings.js';

const HELP_END = `
Sends the prompt of each turn, puts its model calls on record, runs its actions one after the other and ends it as it
ended, then compares what the proxy has on record with the file: names, states, models, token counts, arguments and
results. Times, ids and digests are not compared. The first difference ends it.

The proxy should be a fresh one: a claim, servers and a system prompt stay.

Exit codes: 0 all as in the file, 1 a difference or a proxy that refuses, 130 interrupted; 2 for options or a file that
cannot be.`;

interface GivenReplay {
  readonly proxy: string;
  readonly tokenFile?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeout?: number;
  readonly json?: true;
}

/** `parley replay`; `accept` gets what was asked for. */
export function replayCommand(
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
  accept: (settings: ReplaySettings) => void,
): Command {
  return new Command('replay')
    .description('Play a saved trajectory against a fresh proxy and name the first difference')
    .argument('<file>', 'that holds it, as for "trajectory"')
    .addOption(proxyOption())
    .option('--token-file <file>', "holds the driver's token")
    .option('--env <name=url>', 'server of tools to register; may be given several times', server)
    .option('--timeout <seconds>', 'gives up after so long', seconds)
    .option('--json', 'prints the outcome as JSON')
    .addHelpText('after', HELP_END)
    .action((file: string, given: GivenReplay) => {
      const home = set(env['PARLEY_HOME']) ?? join(homedir(), '.parley');
      accept({
        type: 'replay',
        file: file === '-' ? file : resolve(cwd, file),
        proxyUrl: proxyUrl(given.proxy),
        tokenFile: given.tokenFile === undefined ? undefined : resolve(cwd, given.tokenFile),
        stateDir: resolve(cwd, home, 'proxies'),
        servers: given.env ?? {},
        timeoutMs: given.timeout === undefined ? undefined : given.timeout * 1_000,
        isJson: given.json === true,
      });
    });
}

function server(value: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const at = value.indexOf('=');
  const [name, url] = [value.slice(0, at).trim(), value.slice(at + 1).trim()];
  // Not the value: an address may hold a secret.
  if (at < 1 || name === '' || !URL.canParse(url)) throw new UsageError('--env takes a name, = and a URL');
  return { ...before, [name]: url };
}
