import { z } from 'zod';

type Schema = Record<string, unknown>;

/** A JSON schema and those that it refers to, by the names under which they go into the document's components. */
export type NamedSchemas = Readonly<Record<string, Schema>>;

/**
 * What a validating schema says about a body, as components: itself under `name`, its definitions under
 * `name_definition`. Members that come from the path are left out. Undefined when the schema says nothing.
 */
export function requestSchemas(name: string, input: z.ZodType, pathNames: readonly string[]): NamedSchemas | undefined {
  const { $schema: _, $defs: definitions, ...bounds } = toJsonSchema(input);
  if (Object.keys(bounds).length === 0) return undefined;
  const rename = (reference: string): string => {
    const [, definition] = /^#\/\$defs\/(.+)$/.exec(reference) ?? [];
    return `#/components/schemas/${definition === undefined ? name : `${name}_${definition}`}`;
  };
  const out: Record<string, Schema> = { [name]: withoutMembers(renameReferences(bounds, rename), pathNames) };
  for (const [definition, schema] of Object.entries((definitions ?? {}) as NamedSchemas)) {
    out[`${name}_${definition}`] = renameReferences(schema, rename);
  }
  return out;
}

function toJsonSchema(input: z.ZodType): Schema {
  try {
    return z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  } catch {
    // Some checks have no form in JSON Schema; the contract's message still describes the body.
    return {};
  }
}

function renameReferences<T>(value: T, rename: (reference: string) => string): T {
  if (Array.isArray(value)) return value.map((item: unknown) => renameReferences(item, rename)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const out: Schema = {};
  for (const [key, member] of Object.entries(value)) {
    out[key] =
      key === '$ref' && typeof member === 'string' ? rename(member) : renameReferences<unknown>(member, rename);
  }
  return out as T;
}

function withoutMembers(schema: Schema, names: readonly string[]): Schema {
  if (names.length === 0 || typeof schema['properties'] !== 'object' || schema['properties'] === null) return schema;
  const properties = Object.fromEntries(Object.entries(schema['properties']).filter(([name]) => !names.includes(name)));
  const required = Array.isArray(schema['required'])
    ? schema['required'].filter((name) => !names.includes(String(name)))
    : [];
  const { required: _, ...rest } = schema;
  return { ...rest, properties, ...(required.length > 0 ? { required } : {}) };
}
