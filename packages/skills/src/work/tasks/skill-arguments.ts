import type { ParameterSchema, Scalar, Skill } from '@parley/agent';
import type { JsonObject, ToolDefinition } from '@parley/harness';
import { z } from 'zod';
import { asRecord } from './as-record.js';

/** How a skill is called as a tool: the fields of its input, a name of a part in place of its text, its parameters. */
export interface SkillSignature {
  readonly definition: ToolDefinition;
  /** The field of the input that holds what is worked on; undefined if there is none like that. */
  readonly textField: string | undefined;
  /** The argument that names a part in its place, such as `source_part`. */
  readonly partArgument: string | undefined;
  readonly inputFields: readonly string[];
}

/**
 * @param fixed parameters that were agreed on: a model may repeat them, not change them.
 * @throws TypeError for a skill whose parameter has the name of a field of its input.
 */
export function signatureOf(skill: Skill, fixed: Readonly<Record<string, Scalar>>): SkillSignature {
  const { capability, detail } = skill;
  const { properties, required } = inputSchemaOf(skill);
  const parameters = detail.parameters ?? {};
  const shared = Object.keys(parameters).find((name) => Object.hasOwn(properties, name));
  if (shared !== undefined)
    throw new TypeError(`${capability}: ${shared} is both a parameter and a field of the input`);

  const textField = required.find((name) => asRecord(properties[name])?.['type'] === 'string');
  const partArgument = textField === undefined ? undefined : `${textField}_part`;
  const own = Object.entries(parameters).map(([name, schema]) => [name, argumentSchema(name, schema, fixed)] as const);
  const needed = Object.entries(parameters).filter(
    ([name, { required: isRequired, default: value }]) =>
      isRequired === true && value === undefined && !Object.hasOwn(fixed, name),
  );
  return {
    textField,
    partArgument,
    inputFields: Object.keys(properties),
    definition: {
      name: capability,
      description: describe(skill, textField),
      effect: 'read_only',
      parameters: {
        type: 'object',
        properties: {
          ...properties,
          ...(partArgument === undefined ? {} : { [partArgument]: PART_SCHEMA }),
          ...Object.fromEntries(own),
        } as JsonObject,
        required: [...required.filter((name) => name !== textField), ...needed.map(([name]) => name)],
        additionalProperties: false,
      },
    },
  };
}

const PART_SCHEMA: JsonObject = {
  description: 'Name of the part to work on, in place of repeating it; several are put together. Default: the newest.',
  anyOf: [
    { type: 'string', maxLength: 300 },
    { type: 'array', items: { type: 'string', maxLength: 300 }, minItems: 1, maxItems: 20 },
  ],
};

function describe({ capability, detail }: Skill, textField: string | undefined): string {
  const text = detail.description ?? capability;
  if (textField === undefined) return text;
  return `${text} Give ${textField}_part, the name of a part, rather than ${textField}. The deliverable goes to whoever asked.`;
}

/** An object's properties as JSON Schema; none for an input of another kind. */
export function inputSchemaOf({ input }: Skill): {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
} {
  const schema = asRecord(z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' })) ?? {};
  const required = Array.isArray(schema['required'])
    ? schema['required'].filter((name) => typeof name === 'string')
    : [];
  return { properties: asRecord(schema['properties']) ?? {}, required };
}

function argumentSchema(name: string, schema: ParameterSchema, fixed: Readonly<Record<string, Scalar>>): JsonObject {
  const value = Object.hasOwn(fixed, name) ? fixed[name] : undefined;
  if (value !== undefined) return { const: value, description: 'Agreed on: it cannot be another.' };
  // `required` of one parameter is no keyword of JSON Schema.
  const { required: _, enum: values, ...rest } = schema;
  return { ...rest, ...(values === undefined ? {} : { enum: [...values] }) };
}
