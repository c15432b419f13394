import type { Json, JsonObject } from '../domain/facts.js';

/** The text blocks of a tool's result, as the record keeps them. */
export function contentText(blocks: readonly Json[]): string {
  return blocks
    .filter(isObject)
    .filter(({ type }) => type === 'text')
    .map(({ text }) => text)
    .filter((text) => typeof text === 'string')
    .join('\n');
}

/** What there is besides text, without the data itself; undefined if there is nothing. */
export function otherContent(blocks: readonly Json[]): readonly Json[] | undefined {
  const others = blocks
    .filter((block) => !isObject(block) || (block['type'] ?? block['kind']) !== 'text')
    .map(describe);
  return others.length === 0 ? undefined : others;
}

function describe(block: Json): Json {
  if (!isObject(block)) return { type: 'unknown' };
  const inner = [block['resource'], block['file']].find((part) => part !== undefined && isObject(part));
  const source: JsonObject = { ...block, ...inner };
  const data = source['data'] ?? source['blob'] ?? source['bytes'];
  return {
    type: block['type'] ?? block['kind'] ?? 'unknown',
    ...textMember('mime_type', source['mimeType']),
    ...textMember('uri', source['uri']),
    ...textMember('name', source['name']),
    ...(typeof data === 'string' ? { base64_length: data.length } : {}),
  };
}

function textMember(name: string, value: Json | undefined): JsonObject {
  // A data URI is content, and may be of any size.
  return typeof value === 'string' && value.length <= 2_048 && !value.startsWith('data:') ? { [name]: value } : {};
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}
