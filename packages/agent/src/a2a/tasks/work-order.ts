import type { Message } from '@a2a-js/sdk';
import { STATE_HEADERS_KEY, type RequestHeaders, type ServerCallContext } from '@a2a-js/sdk/server';
import { invalidField } from '@parley/service-kit';
import type { Scalar } from '../../skill.js';
import type { AdmittedWork } from '../agreement/agreement-gate.js';
import { hopsOf } from '../delegate/hops.js';
import type { TaskPart } from '../task-executor.js';
import { fromPart } from './task-parts.js';

/** What is to be done, however the message said it. */
export interface WorkOrder {
  readonly parts: readonly TaskPart[];
  readonly capability: string | undefined;
  readonly parameters: Readonly<Record<string, Scalar>>;
  readonly hops: number;
}

/** The hops of a message as a header, or as gRPC metadata, for those who do not write into messages. */
const HOPS_HEADER = 'parley-hops';

/**
 * An agreement says what is done and with what. Without one, the message's metadata does (`capability`,
 * `parameters`), or else a first data part `{capability, input, parameters}`, of which only the input is handed on.
 *
 * @throws AppError `invalid_request` for a capability that is no name and for parameters that are no scalars.
 */
export function readWorkOrder(
  message: Message,
  call: ServerCallContext,
  admitted: AdmittedWork | undefined,
): WorkOrder {
  const given = message.parts.map(fromPart).filter((part) => part !== undefined);
  const envelope = envelopeOf(given);
  const parts = envelope === undefined ? given : unwrapped(given, envelope);
  const hops = readHops(message, call);
  if (admitted !== undefined) {
    return { parts, capability: admitted.capability, parameters: admitted.parameters, hops };
  }
  const { metadata } = message;
  return {
    parts,
    capability: readName('message.metadata.capability', metadata?.['capability']) ?? envelope?.capability,
    parameters: readParameters(metadata?.['parameters'] ?? envelope?.parameters),
    hops,
  };
}

interface Envelope {
  readonly at: number;
  readonly capability: string;
  readonly input: unknown;
  readonly parameters: unknown;
}

const ENVELOPE_KEYS: ReadonlySet<string> = new Set(['capability', 'input', 'parameters']);

/** Data with any other member is work of its own that happens to speak of a capability. */
function envelopeOf(parts: readonly TaskPart[]): Envelope | undefined {
  const at = parts.findIndex(({ kind }) => kind === 'data');
  const part = parts[at];
  if (part?.kind !== 'data' || !isRecord(part.data)) return undefined;
  const { capability, input, parameters } = part.data;
  if (typeof capability !== 'string' || capability === '') return undefined;
  if (Object.keys(part.data).some((key) => !ENVELOPE_KEYS.has(key))) return undefined;
  return { at, capability, input, parameters };
}

function unwrapped(parts: readonly TaskPart[], { at, input }: Envelope): TaskPart[] {
  const inner: TaskPart[] =
    input === undefined
      ? []
      : [typeof input === 'string' ? { kind: 'text', text: input } : { kind: 'data', data: input }];
  return [...parts.slice(0, at), ...inner, ...parts.slice(at + 1)];
}

function readName(path: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' || value === '') throw invalidField(path, 'must be a name');
  return value;
}

function readParameters(value: unknown): Readonly<Record<string, Scalar>> {
  if (value === undefined || value === null) return {};
  if (!isRecord(value)) throw invalidField('parameters', 'must be an object');
  for (const [name, parameter] of Object.entries(value)) {
    if (!isScalar(parameter)) throw invalidField(`parameters.${name}`, 'must be text, a number, true or false');
  }
  return value as Record<string, Scalar>;
}

/** Of two numbers the larger: whoever leaves one out does not get around the limit. */
function readHops(message: Message, call: ServerCallContext): number {
  const headers = call.state.get(STATE_HEADERS_KEY) as RequestHeaders | undefined;
  const header = headers?.[HOPS_HEADER];
  const isCount = typeof header === 'string' && /^\d{1,6}$/.test(header);
  const told = header === undefined ? 0 : isCount ? Number(header) : Number.MAX_SAFE_INTEGER;
  return Math.max(hopsOf(message.metadata), told);
}

function isScalar(value: unknown): value is Scalar {
  return (
    typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
