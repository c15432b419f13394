import type { Json, JsonObject } from '@parley/proxy-protocol';
import type { ProxyPorts } from '../proxy-ports.js';

/** Where a replay first differs from the file. */
export interface Difference {
  /** Of the event in the file, from 0. */
  readonly index: number;
  /** Such as `attributes.gen_ai.completion.output`. */
  readonly member: string;
  /** Undefined: nothing. */
  readonly expected: Json | undefined;
  readonly got: Json | undefined;
}

type Parsing = Pick<ProxyPorts, 'isJsonObject' | 'numberOf' | 'parseExact'>;

/** Told by every proxy. */
const TOLD_BY_ALL: ReadonlySet<string> = new Set([
  'gen_ai.operation.name',
  'gen_ai.request.model',
  'gen_ai.prompt',
  'gen_ai.completion',
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
]);
/** New in every life of a task, or a matter of where it runs. */
const OWN_TO_A_TASK: ReadonlySet<string> = new Set([
  'parley.proxy.task.id',
  'parley.proxy.action.id',
  'parley.proxy.caller_span_id',
  'gen_ai.conversation.id',
  'mcp.session.id',
  'server.address',
  'server.port',
]);
/** JSON in a text. */
const EMBEDDED: ReadonlySet<string> = new Set(['gen_ai.prompt', 'gen_ai.completion']);
/**
 * Compares an event with the one that was recorded: its name, status and attributes; not its times, ids and digests. What
 * the recorded one lacks is not compared.
 */
export function compareEvents(
  index: number,
  expected: JsonObject,
  got: JsonObject,
  parsing: Parsing,
  { ignoresResult = false }: { readonly ignoresResult?: boolean } = {},
): Difference | undefined {
  const members = ignoresResult ? ['name'] : ['name', 'status'];
  for (const member of members) {
    const found = differ(expected[member], got[member], member, parsing);
    if (found !== undefined) return { index, ...found };
  }
  const wanted = objectOf(expected['attributes'], parsing);
  const given = objectOf(got['attributes'], parsing);
  for (const name of Object.keys(wanted)) {
    if (OWN_TO_A_TASK.has(name) || (ignoresResult && name !== 'gen_ai.prompt')) continue;
    // What only some proxies tell is compared where both have it.
    if (!TOLD_BY_ALL.has(name) && !(name in given)) continue;
    const read = (value: Json | undefined): Json | undefined => (EMBEDDED.has(name) ? embedded(value, parsing) : value);
    const found = differ(read(wanted[name]), read(given[name]), `attributes.${name}`, parsing);
    if (found !== undefined) return { index, ...found };
  }
  return undefined;
}

type Found = Omit<Difference, 'index'>;

function differ(
  expected: Json | undefined,
  got: Json | undefined,
  member: string,
  parsing: Parsing,
): Found | undefined {
  if (Array.isArray(expected) && Array.isArray(got)) {
    return differInside(indexed(expected), indexed(got), member, parsing);
  }
  if (parsing.isJsonObject(expected) && parsing.isJsonObject(got)) return differInside(expected, got, member, parsing);
  return isSame(expected, got, parsing) ? undefined : { member, expected, got };
}

function differInside(expected: JsonObject, got: JsonObject, member: string, parsing: Parsing): Found | undefined {
  for (const name of new Set([...Object.keys(expected), ...Object.keys(got)])) {
    const found = differ(expected[name], got[name], `${member}.${name}`, parsing);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `1` and `1.0` are one number; two that only a double takes for the same are not. */
function isSame(expected: Json | undefined, got: Json | undefined, { numberOf }: Parsing): boolean {
  if (JSON.stringify(expected) === JSON.stringify(got)) return true;
  const [one, other] = [numberOf(expected), numberOf(got)];
  return one !== undefined && one === other && Math.abs(one) <= Number.MAX_SAFE_INTEGER;
}

function indexed(list: readonly Json[]): JsonObject {
  return Object.fromEntries(list.entries());
}

function embedded(value: Json | undefined, { parseExact }: Parsing): Json | undefined {
  if (typeof value !== 'string') return value;
  try {
    return parseExact(value);
  } catch {
    return value;
  }
}

function objectOf(value: Json | undefined, { isJsonObject }: Parsing): JsonObject {
  return isJsonObject(value) ? value : {};
}
