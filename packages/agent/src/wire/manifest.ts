import { RE2JS } from 're2js';
import { valid } from 'semver';
import { z } from 'zod';
import type { CapabilityDetail, ParameterSchema } from '../skill.js';
import { agentId, capabilityName, endpointUrl, plainText, safeKey, semanticVersion } from './identifiers.js';

const MAX_METADATA_BYTES = 16 * 1024;

const scalar = z.union([z.string().max(1_024, 'at most 1,024 characters'), z.number(), z.boolean()], {
  error: 'must be a string, a number or a boolean',
});

/** 1-64 of `A-Z a-z 0-9 . _ -`. */
export const parameterName = safeKey
  .max(64, 'at most 64 characters')
  .regex(/^[A-Za-z0-9._-]+$/, 'letters, digits, ".", "_" and "-" only');

export const parameterSchema = z
  .strictObject({
    type: z.enum(['string', 'number', 'integer', 'boolean']),
    enum: z.array(scalar).max(64, 'at most 64 values').optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    pattern: z.string().max(256, 'at most 256 characters').optional(),
    default: scalar.optional(),
    required: z.boolean().optional(),
    description: plainText(1_000).optional(),
  })
  .superRefine((schema, context) => {
    for (const [path, message] of schemaFaults(schema)) context.addIssue({ code: 'custom', path, message });
  })
  .transform((schema) => withoutUndefined(schema) as ParameterSchema);

type RawSchema = { [K in keyof ParameterSchema]: ParameterSchema[K] | undefined } & { type: ParameterSchema['type'] };

function* schemaFaults(schema: RawSchema): Generator<[string[], string]> {
  const numeric = schema.type === 'number' || schema.type === 'integer';
  if (!numeric && (schema.minimum !== undefined || schema.maximum !== undefined)) {
    yield [['type'], 'only numbers have a minimum or maximum'];
  }
  if (schema.minimum !== undefined && schema.maximum !== undefined && schema.minimum > schema.maximum) {
    yield [['minimum'], 'must not be above maximum'];
  }
  if (
    schema.type === 'integer' &&
    schema.minimum !== undefined &&
    schema.maximum !== undefined &&
    Math.ceil(schema.minimum) > Math.floor(schema.maximum)
  ) {
    yield [['minimum'], 'no integer lies between minimum and maximum'];
  }
  if (schema.pattern !== undefined) {
    if (schema.type !== 'string') yield [['pattern'], 'only strings have a pattern'];
    else if (!compiles(schema.pattern)) yield [['pattern'], 'not a regular expression (RE2 syntax)'];
  }
  for (const [index, value] of (schema.enum ?? []).entries()) {
    if (!matchesType(schema.type, value)) yield [['enum', String(index)], `must be of type ${schema.type}`];
  }
  if (schema.default !== undefined) {
    const fault = parameterFault(schema as ParameterSchema, schema.default);
    if (fault !== undefined) yield [['default'], fault];
  }
}

/** Compiles in linear time and space; RE2 has no backtracking that a hostile pattern could use. */
export function compilePattern(pattern: string): RE2JS {
  return RE2JS.compile(pattern);
}

function compiles(pattern: string): boolean {
  try {
    compilePattern(pattern);
    return true;
  } catch {
    return false;
  }
}

export function matchesType(type: ParameterSchema['type'], value: unknown): boolean {
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'number') return typeof value === 'number' && Number.isFinite(value);
  return typeof value === type;
}

/** Why a value is not allowed by a schema, in words; undefined when it is. */
export function parameterFault(schema: ParameterSchema, value: unknown): string | undefined {
  if (!matchesType(schema.type, value)) return `must be of type ${schema.type}`;
  if (schema.enum !== undefined && schema.enum.length > 0 && !schema.enum.some((allowed) => allowed === value)) {
    return `must be one of ${schema.enum.map((allowed) => JSON.stringify(allowed)).join(', ')}`;
  }
  if (typeof value === 'number') {
    if (schema.minimum !== undefined && value < schema.minimum) return `must be at least ${String(schema.minimum)}`;
    if (schema.maximum !== undefined && value > schema.maximum) return `must be at most ${String(schema.maximum)}`;
  }
  if (typeof value === 'string' && schema.pattern !== undefined && !compilePattern(schema.pattern).matches(value)) {
    return `must match ${schema.pattern}`;
  }
  return undefined;
}

export const capabilityDetail = z
  .strictObject({
    version: semanticVersion.optional(),
    description: plainText(1_000).optional(),
    parameters: z.record(parameterName, parameterSchema).optional(),
  })
  .superRefine((detail, context) => {
    if (Object.keys(detail.parameters ?? {}).length > 32) {
      context.addIssue({ code: 'custom', path: ['parameters'], message: 'at most 32 parameters' });
    }
  })
  .transform((detail) => withoutUndefined(detail) as CapabilityDetail);

const detailOrText = z.union([
  // A map's text is a version when it looks like one, else a description.
  plainText(1_000).transform((text): CapabilityDetail =>
    valid(text) === text ? { version: text } : { description: text },
  ),
  capabilityDetail,
]);

const agentInterface = z.strictObject({
  protocol: plainText(64, 1),
  version: plainText(64),
  url: endpointUrl,
});

const labels = z
  .record(
    safeKey
      .min(1)
      .max(64, 'at most 64 characters')
      .regex(/^[A-Za-z0-9._/-]+$/, 'letters, digits, ".", "_", "/" and "-" only'),
    z
      .string()
      .max(256, 'at most 256 characters')
      .regex(/^[^,\p{Cc}]*$/u, 'no commas and no control characters'),
  )
  .refine((map) => Object.keys(map).length <= 32, 'at most 32 labels');

function utf8Json(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

const wireManifest = z.strictObject({
  agent_id: agentId,
  name: plainText(200, 1),
  endpoint: endpointUrl,
  capabilities: z.union(
    [
      z.array(capabilityName).min(1, 'at least one capability').max(64, 'at most 64 capabilities'),
      z.record(safeKey.pipe(capabilityName), detailOrText),
    ],
    { error: 'must be a list of names, or a map from name to a version, a description or a detail object' },
  ),
  capability_details: z.record(safeKey.pipe(capabilityName), capabilityDetail).optional(),
  version: plainText(64).optional(),
  labels: labels.optional(),
  interfaces: z.array(agentInterface).max(16, 'at most 16 interfaces').optional(),
  metadata: z
    .record(z.string(), z.json())
    .refine((value) => utf8Json(value) <= MAX_METADATA_BYTES, 'at most 16 KiB encoded as JSON')
    .optional(),
  ttl_seconds: z.int().min(1, 'at least 1').max(3_600, 'at most 3,600').optional(),
});

/** A manifest in its one output form: capabilities as a list of names, details apart. */
export interface Manifest {
  readonly agent_id: string;
  readonly name: string;
  readonly endpoint: string;
  readonly capabilities: readonly string[];
  readonly capability_details?: Readonly<Record<string, CapabilityDetail>>;
  readonly version?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly interfaces?: readonly AgentInterface[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly ttl_seconds?: number;
}

export interface AgentInterface {
  readonly protocol: string;
  readonly version: string;
  readonly url: string;
}

/**
 * Accepts the three forms of `capabilities` (list; map to text; map to detail) and gives the one output form.
 * Unknown fields, duplicate names and details of capabilities that are not listed are refused.
 */
export const manifestSchema = wireManifest.transform((raw, context): Manifest => {
  const listed = Array.isArray(raw.capabilities) ? raw.capabilities : Object.keys(raw.capabilities);
  const fault = (path: (string | number)[], message: string): void => {
    context.addIssue({ code: 'custom', path, message });
  };
  if (listed.length === 0) fault(['capabilities'], 'at least one capability');
  if (listed.length > 64) fault(['capabilities'], 'at most 64 capabilities');
  const details: Record<string, CapabilityDetail> = Array.isArray(raw.capabilities) ? {} : { ...raw.capabilities };
  for (const [name, detail] of Object.entries(raw.capability_details ?? {})) {
    if (!listed.includes(name)) fault(['capability_details', name], 'not among the capabilities');
    details[name] = { ...details[name], ...detail };
  }
  const { capabilities: _, capability_details: __, ...rest } = raw;
  const { agent_id, name, endpoint, ...optional } = rest;
  const given = Object.fromEntries(Object.entries(details).filter(([, detail]) => Object.keys(detail).length > 0));
  return {
    agent_id,
    name,
    endpoint,
    capabilities: [...new Set(listed)],
    ...(Object.keys(given).length > 0 ? { capability_details: given } : {}),
    ...(withoutUndefined(optional) as Omit<Manifest, 'agent_id' | 'name' | 'endpoint' | 'capabilities'>),
  };
});

function withoutUndefined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined));
}
