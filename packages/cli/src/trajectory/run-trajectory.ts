import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject, TrajectoryEvent } from '@parley/proxy-protocol';
import type { CliIo } from '../cli-io.js';
import type { OutputWriter } from '../print/output-writer.js';
import { controlHeaders, loadProxyProtocol, type ProxyPorts } from '../proxy-ports.js';
import { untilStopped } from '../until-stopped.js';
import { neutralise, neutraliseLine, safeJson } from '../ui/neutralise.js';
import { counted } from '../ui/numbers.js';
import { UsageError } from '../usage-error.js';
import { readTrajectory } from './read-trajectory.js';
import type { TrajectorySettings, TrajectorySource } from './trajectory-settings.js';

const FAILED_EXIT_CODE = 1;
const FOLLOW_MS = 1_000;
const OPEN_STATES = new Set(['pending', 'running']);

/** What a command works with. */
interface Work {
  readonly io: CliIo;
  readonly out: OutputWriter;
  readonly proxy: ProxyPorts;
  readonly signal: AbortSignal;
}

/**
 * Shows, verifies or exports a trajectory.
 *
 * @returns the exit code. @throws UsageError; Error with one line that says what the proxy or the way to it answered.
 */
export async function runTrajectory(settings: TrajectorySettings, io: CliIo): Promise<number> {
  const proxy = await loadProxyProtocol();
  return untilStopped(io, ({ out, signal }) => run(settings, { io, out, proxy, signal }));
}

async function run(settings: TrajectorySettings, work: Work): Promise<number> {
  const { out, proxy } = work;
  if (settings.type === 'trajectory-show' && settings.follows && settings.source.type === 'proxy') {
    return follow(settings.source, work);
  }
  const events = checked(await readTrajectory(settings.source, work), proxy);
  switch (settings.type) {
    case 'trajectory-show':
      await out.write(events.length === 0 ? 'nothing is on record\n' : `${neutralise(proxy.renderTree(events))}\n`);
      return 0;
    case 'trajectory-verify':
      return verify(events, work);
    case 'trajectory-export':
      await exportAs(settings.format, events, work);
      return 0;
  }
}

async function verify(events: readonly TrajectoryEvent[], { out, proxy }: Work): Promise<number> {
  const result = proxy.verifyTrajectory(events);
  if (result.outcome === 'verified') {
    const open = result.isClosed ? '' : '; the last turn has not ended, so what came later may be missing';
    await out.write(`${counted(events.length, 'event')}: nothing was changed, left out or added${open}\n`);
    for (const head of result.heads) await out.write(`${head}\n`);
    return 0;
  }
  const where = result.outcome === 'broken' ? `event ${result.index}: ` : '';
  await out.write(`not verified: ${where}${neutraliseLine(result.reason)}\n`);
  return FAILED_EXIT_CODE;
}

async function exportAs(
  format: 'otlp' | 'atif' | 'json',
  events: readonly TrajectoryEvent[],
  { out, proxy }: Work,
): Promise<void> {
  if (format === 'otlp') return out.write(`${safeJson(proxy.toOtlp(events, { 'service.name': 'parley-proxy' }))}\n`);
  if (format === 'atif') return out.write(`${safeJson(proxy.toAtif(events))}\n`);
  // One by one: a whole record may be large.
  await out.write('{"trajectory":[');
  for (const [index, event] of events.entries()) await out.write(`${index === 0 ? '' : ','}\n${safeJson(event)}`);
  await out.write('\n]}\n');
}

/** A line for each event as it comes, until the turn has ended. */
async function follow(source: TrajectorySource & { readonly type: 'proxy' }, work: Work): Promise<number> {
  const { out, proxy, signal } = work;
  const client = new proxy.ProxyClient({ url: source.url, headers: controlHeaders(work.io.env) });
  try {
    for (let after = 0; ;) {
      const page = await client.trajectoryPage(source.of, after, { signal });
      for (const event of checked(page.events, proxy)) await out.write(`${eventLine(event, proxy)}\n`);
      after += page.events.length;
      if (page.hasMore && page.events.length > 0) continue;
      if (!OPEN_STATES.has(page.state)) {
        await out.write(`${neutraliseLine(page.state)}\n`);
        return 0;
      }
      await sleep(FOLLOW_MS, undefined, { signal });
    }
  } finally {
    await client.close();
  }
}

/** The event's own line of the tree. */
function eventLine(event: TrajectoryEvent, { renderTree }: ProxyPorts): string {
  const [head = '', below = head] = neutralise(renderTree([event])).split('\n');
  return below.replace(/^[└├]─ /u, '');
}

function checked(events: readonly JsonObject[], { isTrajectoryEvent }: ProxyPorts): readonly TrajectoryEvent[] {
  return events.map((event, index) => {
    if (isTrajectoryEvent(event)) return event;
    throw new UsageError(`event ${index} is none of a trajectory: it needs a name, times, a status and attributes`);
  });
}
