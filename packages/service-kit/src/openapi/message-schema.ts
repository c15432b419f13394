import { ScalarType, type DescField, type DescMessage } from '@bufbuild/protobuf';

type Schema = Record<string, unknown>;

/** JSON Schemas (2020-12) of protobuf messages in their JSON form with proto field names, references included. */
export function messageSchemas(roots: readonly DescMessage[]): Record<string, Schema> {
  const out: Record<string, Schema> = {};
  const visit = (message: DescMessage): void => {
    const name = schemaName(message.typeName);
    if (Object.hasOwn(out, name)) return;
    const properties: Record<string, Schema> = {};
    out[name] = { type: 'object', properties };
    for (const field of message.fields) {
      properties[field.name] = fieldSchema(field);
      if (field.message !== undefined && wellKnown(field.message) === undefined) visit(field.message);
    }
  };
  for (const root of roots) visit(root);
  return out;
}

/** `parley.v1.Lease` becomes `Lease`. */
export function schemaName(typeName: string): string {
  return typeName.slice(typeName.lastIndexOf('.') + 1);
}

function fieldSchema(field: DescField): Schema {
  switch (field.fieldKind) {
    case 'list':
      return {
        type: 'array',
        items: field.message === undefined ? scalarSchema(field.scalar) : referenceTo(field.message),
      };
    case 'map':
      return {
        type: 'object',
        additionalProperties: field.message === undefined ? scalarSchema(field.scalar) : referenceTo(field.message),
      };
    case 'message':
      return referenceTo(field.message);
    case 'enum':
      return { type: 'string', enum: field.enum.values.map((value) => value.name) };
    case 'scalar':
      return scalarSchema(field.scalar);
  }
}

function referenceTo(message: DescMessage): Schema {
  return wellKnown(message) ?? { $ref: `#/components/schemas/${schemaName(message.typeName)}` };
}

function wellKnown(message: DescMessage): Schema | undefined {
  if (message.typeName === 'google.protobuf.Struct') return { type: 'object' };
  if (message.typeName === 'google.protobuf.Value') return {};
  return undefined;
}

function scalarSchema(scalar: ScalarType | undefined): Schema {
  switch (scalar) {
    case ScalarType.BOOL:
      return { type: 'boolean' };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return { type: 'number' };
    case ScalarType.STRING:
    case ScalarType.BYTES:
    case undefined:
      return { type: 'string' };
    default:
      return { type: 'integer' };
  }
}
