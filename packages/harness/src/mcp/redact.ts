const MASK = '[redacted]';

/** Shorter values are words such as `1` or `debug`; hiding those would hide half of the text. */
const MIN_SECRET_LENGTH = 6;

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/giu, `$1 ${MASK}`],
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/giu, `$1${MASK}@`],
  [/\b([\w-]*(?:key|token|secret|password|passphrase|credential)s?["']?\s*[=:]\s*["']?)[^\s"',;]+/giu, `$1${MASK}`],
];

/** Takes the given values, and whatever looks like a credential, out of a text that is going to be logged. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret.length >= MIN_SECRET_LENGTH) clean = clean.replaceAll(secret, MASK);
  }
  for (const [pattern, replacement] of PATTERNS) clean = clean.replace(pattern, replacement);
  return clean;
}
