import type { ToolDefinition } from '../../tools/tool-definition.js';
import { asRecord } from '../as-record.js';

/** A parameter of a tool, as far as its schema says something simple. */
export interface ToolParameter {
  readonly name: string;
  readonly required: boolean;
  readonly type: string | undefined;
  readonly options: readonly string[];
}

/** What of a step can become its argument. */
export type ParameterKind =
  'enum' | 'boolean' | 'number' | 'path' | 'url' | 'command' | 'language' | 'text' | 'list' | 'other';

/** Required ones first, each group in the order of the schema. */
export function parametersOf(tool: ToolDefinition): readonly ToolParameter[] {
  const required = tool.parameters?.['required'];
  const names = new Set(Array.isArray(required) ? required : []);
  const all = Object.entries(asRecord(tool.parameters?.['properties']) ?? {}).map(([name, value]): ToolParameter => {
    const schema = asRecord(value) ?? {};
    const options = Array.isArray(schema['enum']) ? schema['enum'].filter((option) => typeof option === 'string') : [];
    return { name, required: names.has(name), type: typeOf(schema), options };
  });
  return [...all.filter((parameter) => parameter.required), ...all.filter((parameter) => !parameter.required)];
}

// `["string", "null"]` is a string that may be left out.
function typeOf(schema: Readonly<Record<string, unknown>>): string | undefined {
  const types: readonly unknown[] = [schema['type']].flat();
  const type = types.find((one) => one !== 'null');
  return typeof type === 'string' ? type : undefined;
}

const NAMES: readonly (readonly [RegExp, ParameterKind])[] = [
  [/path|file|dir|folder/iu, 'path'],
  [/url|uri|link|href/iu, 'url'],
  [/command|cmd|script/iu, 'command'],
  [/^(?:to|from|into)$|lang|locale/iu, 'language'],
];

export function kindOf({ name, type, options }: ToolParameter): ParameterKind {
  if (options.length > 0) return 'enum';
  if (type === 'boolean') return 'boolean';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'array') return 'list';
  if (type !== undefined && type !== 'string') return 'other';
  // `file_content` is the content.
  if (/content|text|body/iu.test(name)) return 'text';
  return NAMES.find(([pattern]) => pattern.test(name))?.[1] ?? 'text';
}

export function hasRequiredText(tool: ToolDefinition): boolean {
  return parametersOf(tool).some((parameter) => parameter.required && ['text', 'command'].includes(kindOf(parameter)));
}
