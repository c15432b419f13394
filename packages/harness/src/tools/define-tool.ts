import { z } from 'zod';
import type { ToolEffect } from '../enums.js';
import type { JsonObject } from '../json.js';
import { invalidArguments } from './argument-issues.js';
import { normalizeToolDefinition } from './normalize-tool-definition.js';
import { StepOutcome } from './step-outcome.js';
import type { ToolDefinition } from './tool-definition.js';
import { ToolDefinitionError } from './tool-definition-error.js';
import type { ToolCallContext } from './tool-handler.js';

interface ToolSpecBase {
  /** 1–64 letters, digits, `_` or `-`. */
  readonly name: string;
  readonly description: string;
  /** Default `side_effecting`. */
  readonly effect?: ToolEffect;
  /** Asks the provider to keep to the schema exactly, where it can. */
  readonly strict?: boolean;
}

/** A tool whose arguments a zod schema checks before `run` sees them, typed. */
export interface ZodToolSpec<S extends z.core.$ZodType> extends ToolSpecBase {
  /** Of an object. The model is given its JSON Schema. */
  readonly parameters: S;
  /** Gives back a StepOutcome, or data. What it throws becomes an error result. */
  readonly run: (args: z.core.output<S>, context: ToolCallContext) => unknown;
}

/** A tool with a JSON Schema, which the model is given and which a validation middleware may check. */
export interface JsonToolSpec extends ToolSpecBase {
  readonly parameters?: JsonObject;
  /** Gives back a StepOutcome, or data. What it throws becomes an error result. */
  readonly run: (args: JsonObject, context: ToolCallContext) => unknown;
}

/** One tool, ready for `toolHandler`. */
export interface DefinedTool {
  readonly definition: ToolDefinition;
  run(context: ToolCallContext): Promise<unknown>;
}

/**
 * Makes a tool of a function.
 *
 * ```ts
 * const add = defineTool({
 *   name: 'add',
 *   description: 'Adds two numbers.',
 *   effect: 'read_only',
 *   parameters: z.object({ left: z.number(), right: z.number() }),
 *   run: ({ left, right }) => left + right,
 * });
 * ```
 *
 * Arguments that the zod schema refuses never reach `run`: the model gets an error result with the code
 * `invalid_tool_arguments`, and for each error a JSON Pointer and what is wanted there, never the value.
 *
 * @throws ToolDefinitionError for a wrong name, or a schema that is not one of an object or has no JSON form.
 */
export function defineTool<S extends z.core.$ZodType>(spec: ZodToolSpec<S>): DefinedTool;
export function defineTool(spec: JsonToolSpec): DefinedTool;
export function defineTool(spec: ZodToolSpec<z.core.$ZodType> | JsonToolSpec): DefinedTool {
  return isZodSpec(spec) ? zodTool(spec) : jsonTool(spec);
}

function isZodSpec(spec: ZodToolSpec<z.core.$ZodType> | JsonToolSpec): spec is ZodToolSpec<z.core.$ZodType> {
  // By its mark, not its class: the schema may come from another copy of the library.
  return spec.parameters !== undefined && '_zod' in spec.parameters;
}

function jsonTool(spec: JsonToolSpec): DefinedTool {
  const { run, ...definition } = spec;
  return {
    definition: normalizeToolDefinition(definition),
    run: async (context) => await run(context.arguments, context),
  };
}

function zodTool(spec: ZodToolSpec<z.core.$ZodType>): DefinedTool {
  const { run, parameters: schema, ...rest } = spec;
  return {
    definition: normalizeToolDefinition({ ...rest, parameters: jsonSchemaOf(schema, spec.name) }),
    run: async (context) => {
      const parsed = await z.safeParseAsync(schema, context.arguments);
      if (parsed.success) return await run(parsed.data, context);
      return new StepOutcome(invalidArguments(spec.name, parsed.error.issues));
    },
  };
}

function jsonSchemaOf(schema: z.core.$ZodType, tool: string): unknown {
  const json = convert(schema, tool);
  if (json.type === 'object') return json;
  throw new ToolDefinitionError('parameters', `parameters of tool "${tool}" must be a schema of an object`);
}

/** The model writes what goes into the schema, before defaults and transformations. */
function convert(schema: z.core.$ZodType, tool: string): z.core.JSONSchema.BaseSchema {
  try {
    return z.toJSONSchema(schema, { io: 'input' });
  } catch (cause) {
    throw new ToolDefinitionError('parameters', `parameters of tool "${tool}" have no JSON Schema`, { cause });
  }
}
