import type { DriveOptions } from '@parley/proxy-protocol';
import { chooseModel, type ChosenModel } from '../agent/choose-model.js';
import type { CliIo } from '../cli-io.js';
import { controlHeaders, loadProxyProtocol, type ProxyPorts } from '../proxy-ports.js';
import { LOST_READER_EXIT_CODE, onStopSignals } from '../stop-signals.js';
import { warnLogger } from '../warn-logger.js';
import { ContextMemory } from './context-memory.js';
import type { DriveSettings, DriveTarget } from './drive-settings.js';
import { describeLeft, DriveView } from './drive-view.js';
import { driverToken } from './driver-token.js';
import { driveFound } from './found/drive-found.js';
import { openFinder } from './found/registry-finder.js';
import { OfflineTurnModel } from './offline-turn-model.js';
import { playTurn } from './play-turn.js';
import { Stopping } from './stopping.js';

/** What is the same whichever proxy is played. */
interface Session {
  readonly settings: DriveSettings;
  readonly env: CliIo['env'];
  readonly proxy: ProxyPorts;
  readonly stopping: Stopping;
  readonly view: DriveView;
  readonly model: ChosenModel;
  /** With a memory of its own. */
  readonly newPlay: () => DriveOptions['play'];
}

/**
 * Plays a proxy, or those that are found at a registry, until it was stopped or has played its turns.
 *
 * @returns the exit code. @throws UsageError; Error with one line that says what the proxy, the registry or the way to
 * them answered.
 */
export async function runDrive(settings: DriveSettings, io: CliIo): Promise<number> {
  const { target, isJson, maxSteps } = settings;
  const model = chooseModel(settings.model, io.env);
  const makeModel = model.offlineBecause === undefined ? model.make : () => new OfflineTurnModel();
  const proxy = await loadProxyProtocol();
  const stopping = new Stopping();
  const view = new DriveView(io, { isJson, onLostReader: () => stopping.leave(LOST_READER_EXIT_CODE) });
  const endListening = onStopSignals(io.process, (code) => {
    if (stopping.stop(code)) void view.say('no more turns; those in play go on to their end (once more: leaves them)');
  });
  const newPlay = (): DriveOptions['play'] => {
    const memory = new ContextMemory();
    const { contextTokens } = settings.model;
    const logger = warnLogger((message) => void view.say(message, 'warn'));
    const shared = { makeModel, memory, proxy, maxSteps, contextTokens, logger };
    return (turn) => playTurn(turn, { ...shared, sinkFor: (played) => view.sinkFor(played) });
  };
  const session = { settings, env: io.env, proxy, stopping, view, model, newPlay };
  try {
    await (target.type === 'proxy' ? playGiven(target, session) : playFound(target, session));
    return stopping.exitCode;
  } finally {
    endListening();
  }
}

async function playGiven(target: DriveTarget & { readonly type: 'proxy' }, session: Session): Promise<void> {
  const { settings, env, proxy, stopping, view, newPlay } = session;
  const { url, tokenFile: file, stateDir } = target;
  const { token, source } = await driverToken({ proxyUrl: url, file, stateDir, env });
  const client = new proxy.ProxyClient({ url, token, headers: controlHeaders(env) });
  try {
    await begin(`playing ${url} with ${session.model.name}, token of ${source}`, session);
    const outcome = await proxy.drive({
      client,
      signal: stopping.left,
      drain: stopping.drained,
      maxConcurrentTurns: settings.concurrency,
      ...(settings.maxTurns !== undefined && { maxTurns: settings.maxTurns }),
      onEvent: (event) => view.onDrive(event),
      play: newPlay(),
    });
    if (outcome.left.length > 0) await view.say(describeLeft(outcome.left.length), 'warn');
  } finally {
    await client.close();
  }
}

/** The control token of the environment is not for those that are found: it would be shown to whoever says it is a proxy. */
async function playFound(target: DriveTarget & { readonly type: 'registry' }, session: Session): Promise<void> {
  const { settings, proxy, stopping, view, newPlay } = session;
  const { url: registryUrl, capability } = target;
  await begin(`looking for ${capability} at ${registryUrl}, to play it with ${session.model.name}`, session);
  const finder = await openFinder({ registryUrl, capability });
  try {
    await driveFound({
      finder,
      proxy,
      stopping,
      maxTurns: settings.maxTurns,
      maxConcurrentTurns: settings.concurrency,
      newPlay,
      onDrive: (event) => view.onDrive(event),
      onFound: (event) => view.onFound(event),
    });
  } finally {
    await finder.close();
  }
}

async function begin(text: string, { view, model: { offlineBecause } }: Session): Promise<void> {
  await view.say(text);
  if (offlineBecause !== undefined) await view.say(`no model is behind it: ${offlineBecause}`, 'warn');
}
