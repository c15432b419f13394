import { randomUUID } from 'node:crypto';
import type { CliIo } from '../cli-io.js';
import { driverToken } from '../drive/driver-token.js';
import { controlHeaders, loadProxyProtocol, type ProxyPorts } from '../proxy-ports.js';
import { untilStopped } from '../until-stopped.js';
import { readTrajectory } from '../trajectory/read-trajectory.js';
import { neutraliseLine, safeJson } from '../ui/neutralise.js';
import { counted } from '../ui/numbers.js';
import type { Difference } from './compare-events.js';
import type { ReplaySettings } from './replay-settings.js';
import { replayTurn } from './replay-turn.js';
import { replayTurns } from './replay-turns.js';

const FAILED_EXIT_CODE = 1;
const MAX_VALUE = 400;

/**
 * Plays a saved trajectory against a proxy and tells the first difference.
 *
 * @returns the exit code. @throws UsageError; Error with one line that says what the proxy or the way to it answered.
 */
export async function runReplay(settings: ReplaySettings, io: CliIo): Promise<number> {
  const proxy = await loadProxyProtocol();
  const limit = new AbortController();
  const { timeoutMs } = settings;
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => limit.abort(new Error(`no end within ${timeoutMs / 1_000} s`)), timeoutMs);
  try {
    return await untilStopped(io, async ({ out, signal }) => {
      const ends = AbortSignal.any([signal, limit.signal]);
      const { count, difference } = await replay(settings, io, proxy, ends);
      await out.write(
        settings.isJson ? `${safeJson({ events: count, difference: difference ?? null })}\n` : told(count, difference),
      );
      return difference === undefined ? 0 : FAILED_EXIT_CODE;
    });
  } finally {
    clearTimeout(timer);
  }
}

async function replay(
  settings: ReplaySettings,
  io: CliIo,
  proxy: ProxyPorts,
  signal: AbortSignal,
): Promise<{ readonly count: number; readonly difference: Difference | undefined }> {
  const events = await readTrajectory({ type: 'file', path: settings.file }, { io, proxy, signal });
  const turns = replayTurns(events, proxy);
  const { proxyUrl: url, tokenFile: file, stateDir, servers } = settings;
  const { token } = await driverToken({ proxyUrl: url, file, stateDir, env: io.env });
  const client = new proxy.ProxyClient({ url, token, headers: controlHeaders(io.env) });
  const sender = new proxy.A2aSender({ url });
  try {
    await client.claim({ signal });
    for (const [name, serverUrl] of Object.entries(servers))
      await client.addServer({ name, url: serverUrl }, { signal });
    const contextId = randomUUID();
    for (const turn of turns) {
      const difference = await replayTurn(turn, { client, sender, proxy, contextId, signal });
      if (difference !== undefined) return { count: events.length, difference };
    }
    return { count: events.length, difference: undefined };
  } finally {
    await client.close();
    await sender.close();
  }
}

function told(count: number, difference: Difference | undefined): string {
  if (difference === undefined) return `${counted(count, 'event')}: all as in the file\n`;
  const { index, member, expected, got } = difference;
  return `event ${index} differs: ${neutraliseLine(member)}\n  expected ${shown(expected)}\n  got      ${shown(got)}\n`;
}

function shown(value: Difference['got']): string {
  if (value === undefined) return 'nothing';
  const text = safeJson(value);
  return text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE)}… (${text.length} characters)`;
}
