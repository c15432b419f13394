import type { Command } from 'commander';
import type { CliIo } from './cli-io.js';
import { type CommandSurroundings, driveCommands } from './drive/drive-commands.js';
import type { DriveSettings, SendSettings } from './drive/drive-settings.js';
import { replayCommand } from './replay/replay-command.js';
import type { ReplaySettings } from './replay/replay-settings.js';
import { trajectoryCommand } from './trajectory/trajectory-command.js';
import type { TrajectorySettings } from './trajectory/trajectory-settings.js';

/** One of the commands about proxies, read and checked. */
export type ProxySettings = DriveSettings | SendSettings | TrajectorySettings | ReplaySettings;

/** The commands about proxies; `accept` gets what the one that was given asks for. */
export function proxyCommands(
  surroundings: CommandSurroundings,
  accept: (settings: ProxySettings) => void,
): readonly Command[] {
  return [
    ...driveCommands(surroundings, accept),
    trajectoryCommand(surroundings.cwd, accept),
    replayCommand(surroundings, accept),
  ];
}

/**
 * One of the commands about proxies. What does it is loaded here and not with the program.
 *
 * @returns the exit code. @throws UsageError; Error with one line that says what the proxy or the way to it answered.
 */
export async function runProxy(settings: ProxySettings, io: CliIo): Promise<number> {
  switch (settings.type) {
    case 'drive':
      return (await import('./drive/run-drive.js')).runDrive(settings, io);
    case 'send':
      return (await import('./drive/run-send.js')).runSend(settings, io);
    case 'replay':
      return (await import('./replay/run-replay.js')).runReplay(settings, io);
    default:
      return (await import('./trajectory/run-trajectory.js')).runTrajectory(settings, io);
  }
}
