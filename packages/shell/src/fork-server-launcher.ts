import { findProgram } from './find-shell.js';
import { ForkServer } from './fork-server.js';
import type { LaunchedProcess, Launcher, LaunchRequest } from './launcher.js';

/** Numbers of signalfd4 and prctl. */
const SYSTEM_CALLS: Readonly<Partial<Record<NodeJS.Architecture, readonly [number, number]>>> = {
  x64: [289, 157],
  arm64: [74, 167],
};

/** So often one may fail to come up in a row. One that came up and was ended by a command does not count. */
const MAX_FAILURES = 3;

/** Starts commands by a fork server, and where there can be none by another launcher. */
export class ForkServerLauncher implements Launcher {
  #failures = 0;
  #server: ForkServer | undefined;
  #beginning: Promise<ForkServer | undefined> | undefined;

  constructor(
    private readonly fallback: Launcher,
    private readonly searchPath = process.env['PATH'],
  ) {}

  /** Of the fork server; undefined while there is none. */
  get serverPid(): number | undefined {
    return this.#server?.isAlive === true ? this.#server.pid : undefined;
  }

  async launch(request: LaunchRequest): Promise<LaunchedProcess> {
    if (this.#server?.isAlive === true) return this.#server.launch(request);
    return ((await this.#begin()) ?? this.fallback).launch(request);
  }

  /** All who ask while one comes up get the same. */
  #begin(): Promise<ForkServer | undefined> {
    return (this.#beginning ??= this.#tryToBegin().finally(() => {
      this.#beginning = undefined;
    }));
  }

  async #tryToBegin(): Promise<ForkServer | undefined> {
    const systemCalls = process.platform === 'linux' ? SYSTEM_CALLS[process.arch] : undefined;
    if (systemCalls === undefined || this.#failures >= MAX_FAILURES) return undefined;
    const perl = findProgram('perl', this.searchPath);
    this.#server = perl === undefined ? undefined : await ForkServer.begin(perl, systemCalls);
    this.#failures = this.#server === undefined ? this.#failures + 1 : 0;
    return this.#server;
  }
}
