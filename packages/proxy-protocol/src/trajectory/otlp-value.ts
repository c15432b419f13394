import type { Json } from '../json/index.js';
import { cutText } from './cut-text.js';
import type { OtlpAttribute, OtlpValue } from './otlp-types.js';

/** Texts are cut; what is neither plain nor a list of plain values becomes its JSON text. */
export function otlpAttribute(key: string, value: Json, maxTextBytes: number): OtlpAttribute {
  return { key, value: otlpValue(value, maxTextBytes) };
}

function otlpValue(value: Json, maxTextBytes: number): OtlpValue {
  if (typeof value === 'string') return { stringValue: cutText(value, maxTextBytes) };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return numberValue(String(value));
  if (JSON.isRawJSON(value)) return numberValue(value.rawJSON);
  if (Array.isArray(value) && value.every(isPlain)) {
    return { arrayValue: { values: value.map((item: Json) => otlpValue(item, maxTextBytes)) } };
  }
  return { stringValue: cutText(JSON.stringify(value), maxTextBytes) };
}

function isPlain(value: Json): boolean {
  return typeof value !== 'object' || JSON.isRawJSON(value);
}

function numberValue(text: string): OtlpValue {
  if (/^-?\d+$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text))
    return { intValue: BigInt(text).toString() };
  const double = Number(text);
  return Number.isFinite(double) ? { doubleValue: double } : { stringValue: text };
}
