import { createReadStream } from 'node:fs';
import type { Json, JsonObject } from '@parley/proxy-protocol';
import { messageOf } from '@parley/harness';
import type { CliIo } from '../cli-io.js';
import { readInput } from '../print/read-input.js';
import { controlHeaders, type ProxyPorts } from '../proxy-ports.js';
import { UsageError } from '../usage-error.js';
import type { TrajectorySource } from './trajectory-settings.js';

const MAX_FILE_BYTES = 512 * 1024 * 1024;

/**
 * All events of a trajectory, each as it was written.
 *
 * @throws UsageError for a file that holds none; what the proxy answers.
 */
export async function readTrajectory(
  source: TrajectorySource,
  { io, proxy, signal }: { readonly io: CliIo; readonly proxy: ProxyPorts; readonly signal: AbortSignal },
): Promise<readonly JsonObject[]> {
  if (source.type === 'file') {
    return eventsOf(source.path === '-' ? String(await readInput(io.stdin)) : await readFile(source.path), proxy);
  }
  const client = new proxy.ProxyClient({ url: source.url, headers: controlHeaders(io.env) });
  try {
    const events: JsonObject[] = [];
    for (let isMore = true; isMore;) {
      const page = await client.trajectoryPage(source.of, events.length, { signal });
      events.push(...page.events);
      isMore = page.hasMore && page.events.length > 0;
    }
    return events;
  } finally {
    await client.close();
  }
}

/** An array, an object that holds one under `trajectory` or `events`, or an event on each line. */
export function eventsOf(text: string, proxy: Pick<ProxyPorts, 'isJsonObject' | 'parseExact'>): readonly JsonObject[] {
  const whole = parsed(text, proxy);
  const found = whole === undefined ? lines(text, proxy) : listIn(whole, proxy);
  const events = found?.filter((event) => proxy.isJsonObject(event));
  if (events === undefined || events.length !== found?.length) {
    throw new UsageError('this is no trajectory: an array of events is needed, or one on each line');
  }
  return events;
}

function listIn(value: Json, { isJsonObject }: Pick<ProxyPorts, 'isJsonObject'>): readonly Json[] | undefined {
  if (isList(value)) return value;
  if (!isJsonObject(value)) return undefined;
  const list = value['trajectory'] ?? value['events'];
  if (list !== undefined && isList(list)) return list;
  // A file of one line.
  return value['attributes'] === undefined ? undefined : [value];
}

/** Array.isArray does not know lists that nobody changes. */
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function lines(text: string, proxy: Pick<ProxyPorts, 'parseExact'>): readonly Json[] | undefined {
  const read = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => parsed(line, proxy));
  const events = read.filter((event) => event !== undefined);
  return read.length === 0 || events.length < read.length ? undefined : events;
}

function parsed(text: string, { parseExact }: Pick<ProxyPorts, 'parseExact'>): Json | undefined {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

async function readFile(path: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(path)) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes > MAX_FILE_BYTES) throw new Error(`${path} is larger than ${MAX_FILE_BYTES / 1_048_576} MiB`);
    }
  } catch (error) {
    throw new UsageError(`cannot read the trajectory: ${messageOf(error)}`, { cause: error });
  }
  return Buffer.concat(chunks).toString('utf8');
}
