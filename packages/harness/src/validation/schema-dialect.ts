import type { JsonObject } from '../json.js';
import { isList, schemasIn } from './schema-nodes.js';

/** Versions of JSON Schema that differ in what their keywords mean. */
export type SchemaDialect = 'draft-07' | '2019-09' | '2020-12';

/** Keywords that draft-07 would silently ignore. */
const NEWER_KEYWORDS = [
  'prefixItems',
  'dependentRequired',
  'dependentSchemas',
  'unevaluatedProperties',
  'unevaluatedItems',
  'minContains',
  'maxContains',
  '$dynamicRef',
  '$anchor',
];

/**
 * The dialect that a schema declares with `$schema`. Without a declaration, or with one that nobody knows, draft-07,
 * unless the schema uses a keyword which only newer dialects have.
 */
export function schemaDialect(schema: JsonObject): SchemaDialect {
  const declared = schema['$schema'];
  if (typeof declared === 'string') {
    if (declared.includes('/draft/2020-12/')) return '2020-12';
    if (declared.includes('/draft/2019-09/')) return '2019-09';
    if (/\/draft-0[467]\//u.test(declared)) return 'draft-07';
  }
  const parts = schemasIn(schema);
  // A list of schemas under `items` is what newer dialects call prefixItems.
  if (parts.some((part) => isList(part['items']))) return 'draft-07';
  return parts.some((part) => NEWER_KEYWORDS.some((keyword) => Object.hasOwn(part, keyword))) ? '2020-12' : 'draft-07';
}
