import type { OtlpAttribute, OtlpSpan } from '@parley/proxy-protocol';

export interface EncodedSpan {
  readonly name: string;
  readonly text: string;
  readonly bytes: number;
}

/** Of one text of a span that would not fit otherwise, in characters. */
const TIGHTER_LIMITS = [4_096, 256, 32];

/** Undefined for a span that stays too large however short its texts are cut. */
export function encodeSpan(span: OtlpSpan, maxBytes: number): EncodedSpan | undefined {
  for (const limit of [Number.POSITIVE_INFINITY, ...TIGHTER_LIMITS]) {
    const text = JSON.stringify(limit === Number.POSITIVE_INFINITY ? span : cut(span, limit));
    const bytes = Buffer.byteLength(text);
    if (bytes <= maxBytes) return { name: span.name, text, bytes };
  }
  return undefined;
}

function cut(span: OtlpSpan, limit: number): OtlpSpan {
  return { ...span, attributes: span.attributes.map((attribute) => cutAttribute(attribute, limit)) };
}

function cutAttribute({ key, value }: OtlpAttribute, limit: number): OtlpAttribute {
  if (!('stringValue' in value) || value.stringValue.length <= limit) return { key, value };
  return { key, value: { stringValue: `${value.stringValue.slice(0, limit).toWellFormed()}…` } };
}
