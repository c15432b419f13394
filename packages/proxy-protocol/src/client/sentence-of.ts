import { readJson } from './proxy-http.js';

const MAX_SENTENCE = 2_000;

/**
 * What a refusal says: the plain sentence that is its body, the `detail` or `error` of a JSON object, or the messages of
 * a list of validation errors. A page of a gateway in between says nothing that is for us.
 */
export function sentenceOf(status: number, body: string): string {
  const text = body.trim();
  if (text === '' || text.startsWith('<')) return `answered ${status}`;
  const sentence = /^[[{]/u.test(text) ? (fromJson(text) ?? text) : text;
  return sentence.length <= MAX_SENTENCE ? sentence : `${sentence.slice(0, MAX_SENTENCE)}…`;
}

function fromJson(text: string): string | undefined {
  try {
    return spoken(readJson(text));
  } catch {
    return undefined;
  }
}

function spoken(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) {
    const all = value.map(spoken).filter((one) => one !== undefined);
    return all.length === 0 ? undefined : all.join('; ');
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { detail, msg, message, error, loc } = value as Readonly<Record<string, unknown>>;
  const where = Array.isArray(loc) && loc.length > 0 ? `${loc.join('.')}: ` : '';
  const said = spoken(detail) ?? spoken(msg) ?? spoken(message) ?? spoken(error);
  return said === undefined ? undefined : `${where}${said}`;
}
