import { fullFormats } from 'ajv-formats/dist/formats.js';
import { isPattern } from './schema-patterns.js';
import type { WorkBudget } from './work-budget.js';

export type SchemaFormat =
  | true
  | { readonly type: 'string'; readonly validate: (value: string) => boolean }
  | { readonly type: 'number'; readonly validate: (value: number) => boolean };

type AnyCheck = (value: unknown) => boolean;

/** Longer texts are of no format: some of the expressions behind formats take quadratic time. */
const MAX_FORMATTED_LENGTH = 4_096;

/** Formats that say nothing which could be checked quickly, or at all. */
const UNCHECKED = new Set(['binary', 'password', 'byte']);

/** Every known format by name. Unknown ones are ignored, as the standard allows. */
export function schemaFormats(budget: WorkBudget): ReadonlyMap<string, SchemaFormat> {
  const formats = new Map<string, SchemaFormat>();
  for (const [name, format] of Object.entries<unknown>(fullFormats)) formats.set(name, checked(name, format, budget));
  // Patterns of other languages' dialects are fine as long as one of the engines here can read them.
  formats.set('regex', { type: 'string', validate: isPattern });
  return formats;
}

function checked(name: string, format: unknown, budget: WorkBudget): SchemaFormat {
  const check = checkOf(format);
  if (check === undefined || UNCHECKED.has(name)) return true;
  if (isRecord(format) && format['type'] === 'number') return { type: 'number', validate: check };
  const validate = (text: string) => {
    budget.spend(1 + text.length);
    return text.length <= MAX_FORMATTED_LENGTH && check(text);
  };
  return { type: 'string', validate };
}

function checkOf(format: unknown): AnyCheck | undefined {
  if (format instanceof RegExp) return (text) => format.test(String(text));
  if (typeof format === 'function') return format as AnyCheck;
  return isRecord(format) ? checkOf(format['validate']) : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
