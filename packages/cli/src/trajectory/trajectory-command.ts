import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { proxyUrl } from '../proxy-option.js';
import { UsageError } from '../usage-error.js';
import {
  EXPORT_FORMATS,
  type ExportFormat,
  type TrajectorySettings,
  type TrajectorySource,
} from './trajectory-settings.js';

const HELP_END = `
A file holds what "export" writes with --format json, an array of events, a page of them, or an event on each line;
"-" stands for the standard input.

Exit codes: 0; 1 a chain that is broken, or a trajectory that cannot be read; 2 for options that cannot be.`;

interface GivenSource {
  readonly proxy?: string;
  readonly task?: string;
  readonly context?: string;
}

/** `parley trajectory show|verify|export`; `accept` gets what the one that was given asks for. */
export function trajectoryCommand(cwd: string, accept: (settings: TrajectorySettings) => void): Command {
  return new Command('trajectory')
    .description("Show, verify or export what a proxy's turn did")
    .helpCommand(false)
    .addCommand(
      reading('show', 'Print it as a tree')
        .option('--follow', 'stays until the turn has ended; only with --proxy')
        .action((file: string | undefined, given: GivenSource & { readonly follow?: true }) => {
          const source = toSource(file, given, cwd);
          const follows = given.follow === true;
          if (follows && source.type === 'file') throw new UsageError('--follow needs --proxy: a file does not grow');
          accept({ type: 'trajectory-show', source, follows });
        }),
    )
    .addCommand(
      reading('verify', 'Check that nothing in it was changed, left out or added').action(
        (file: string | undefined, given: GivenSource) =>
          accept({ type: 'trajectory-verify', source: toSource(file, given, cwd) }),
      ),
    )
    .addCommand(
      reading('export', 'Print it for other programs')
        .addOption(
          new Option('--format <name>', 'OTLP/JSON, ATIF, or the events as they are')
            .choices(EXPORT_FORMATS)
            .default('json'),
        )
        .action((file: string | undefined, given: GivenSource & { readonly format: ExportFormat }) =>
          accept({ type: 'trajectory-export', source: toSource(file, given, cwd), format: given.format }),
        ),
    )
    .addHelpText('after', HELP_END);
}

function reading(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument('[file]', 'that holds it')
    .option('--proxy <url>', 'asks a proxy for it')
    .option('--task <id>', 'of a turn')
    .addOption(new Option('--context <id>', 'of all turns of a context').conflicts('task'))
    .addHelpText('after', HELP_END);
}

function toSource(file: string | undefined, { proxy, task, context }: GivenSource, cwd: string): TrajectorySource {
  if (file !== undefined) {
    if (proxy !== undefined || task !== undefined || context !== undefined) {
      throw new UsageError('a trajectory is read from a file or from --proxy, not from both');
    }
    return { type: 'file', path: file === '-' ? file : resolve(cwd, file) };
  }
  if (proxy === undefined) throw new UsageError('a file is needed, or --proxy and --task');
  const url = proxyUrl(proxy);
  if (task !== undefined) return { type: 'proxy', url, of: { taskId: task } };
  if (context !== undefined) return { type: 'proxy', url, of: { contextId: context } };
  throw new UsageError('--proxy needs --task or --context');
}
