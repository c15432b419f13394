import { ForkServerLauncher } from './fork-server-launcher.js';
import { spawnLauncher } from './spawn-launcher.js';

/** Shared by all commands of this process; chosen when the first one is started. */
export const defaultLauncher = new ForkServerLauncher(spawnLauncher);
