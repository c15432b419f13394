import { TOOL_EFFECTS, type ToolEffect } from '../enums.js';
import type { JsonObject } from '../json.js';
import { frozenJson, isJsonObject } from './json-copy.js';
import type { ToolDefinition } from './tool-definition.js';
import { ToolDefinitionError } from './tool-definition-error.js';

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/u;

/** Definitions made here: they are frozen, so that they can be handed on as they are. */
const normalized = new WeakSet<object>();

/**
 * The definition that the harness works with, detached from its input and frozen. Accepts that shape itself and the
 * dictionaries of OpenAI function calling: `{type: 'function', function: {…}}` and the flat `{type: 'function', name, …}`.
 * A `null` counts as absent.
 *
 * @param options.effect Replaces the effect of the input; OpenAI dictionaries have none and count as `side_effecting`.
 * @throws ToolDefinitionError naming the field that is wrong.
 */
export function normalizeToolDefinition(
  input: unknown,
  options: { readonly effect?: ToolEffect } = {},
): ToolDefinition {
  if (!isRecord(input)) throw new ToolDefinitionError('tool', 'a tool definition must be an object');
  if (options.effect === undefined && normalized.has(input)) return input as unknown as ToolDefinition;
  const fields = fieldsOf(input);
  const name = nameOf(fields['name']);
  const parameters = parametersOf(fields['parameters'], name);
  const strict = strictOf(fields['strict'], name);
  const definition: ToolDefinition = Object.freeze({
    name,
    description: descriptionOf(fields['description'], name),
    ...(parameters === undefined ? {} : { parameters }),
    effect: options.effect ?? effectOf(fields['effect'], name),
    ...(strict === undefined ? {} : { strict }),
  });
  normalized.add(definition);
  return definition;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return isJsonObject(value);
}

function fieldsOf(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!('type' in input)) return input;
  if (input['type'] !== 'function')
    throw new ToolDefinitionError('type', 'only tools of type "function" are supported');
  if (!('function' in input)) return input;
  const inner = input['function'];
  if (!isRecord(inner)) throw new ToolDefinitionError('function', 'field "function" of a tool must be an object');
  return inner;
}

function nameOf(value: unknown): string {
  if (typeof value === 'string' && TOOL_NAME.test(value)) return value;
  throw new ToolDefinitionError('name', 'a tool name must be 1 to 64 letters, digits, "_" or "-"');
}

function descriptionOf(value: unknown, name: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  throw new ToolDefinitionError('description', `description of tool "${name}" must be a string`);
}

function parametersOf(value: unknown, name: string): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  const copy = copyOf(value, name);
  if (!isJsonObject(copy))
    throw new ToolDefinitionError('parameters', `parameters of tool "${name}" must be an object`);
  if (copy['type'] === undefined || copy['type'] === 'object') return copy;
  throw new ToolDefinitionError('parameters', `parameters of tool "${name}" must be a schema of type "object"`);
}

function copyOf(value: unknown, name: string): unknown {
  try {
    return frozenJson(value);
  } catch (cause) {
    throw new ToolDefinitionError('parameters', `parameters of tool "${name}" must be JSON`, { cause });
  }
}

function effectOf(value: unknown, name: string): ToolEffect {
  if (value === undefined || value === null) return 'side_effecting';
  const effect = TOOL_EFFECTS.find((candidate) => candidate === value);
  if (effect !== undefined) return effect;
  throw new ToolDefinitionError('effect', `effect of tool "${name}" must be one of ${TOOL_EFFECTS.join(', ')}`);
}

function strictOf(value: unknown, name: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  throw new ToolDefinitionError('strict', `strict of tool "${name}" must be a boolean`);
}
