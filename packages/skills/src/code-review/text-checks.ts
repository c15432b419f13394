import type { Finding } from './findings.js';

/** Checks that read the text itself, so that they also work on what no parser takes. */
export function textChecks(source: string): Finding[] {
  const lines = source.split(/\r\n|[\n\r\u2028\u2029]/u);
  return [...hardcodedSecrets(lines), ...longLines(lines)];
}

/** Lines as an editor counts them: what follows the last line end counts only if there is something. */
export function countLines(source: string): number {
  if (source === '') return 0;
  const ends = source.match(/\r\n|[\n\r\u2028\u2029]/gu)?.length ?? 0;
  return /[\n\r\u2028\u2029]$/u.test(source) ? ends : ends + 1;
}

/** Formats in which well-known services hand out secrets. Every repetition is bounded: matching stays linear. */
const SECRET_FORMATS: readonly (readonly [what: string, format: RegExp])[] = [
  ['a private key', /-----BEGIN (?:[A-Z]{1,12} ){0,3}PRIVATE KEY-----/g],
  ['an AWS access key id', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g],
  ['a GitHub token', /\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22,80})/g],
  ['a GitLab token', /\bglpat-[A-Za-z0-9_-]{20}/g],
  ['an npm token', /\bnpm_[A-Za-z0-9]{36}\b/g],
  ['a Slack token', /\bxox[abeoprs]-[A-Za-z0-9-]{10,80}/g],
  ['a Google API key', /\bAIza[0-9A-Za-z_-]{35}/g],
  ['a model provider key', /\bsk-(?:[a-z]{2,8}-)?[A-Za-z0-9_-]{32,200}/g],
  ['a payment key', /\b[rs]k_live_[A-Za-z0-9]{20,100}/g],
  ['a signed token', /\beyJ[A-Za-z0-9_-]{8,400}\.eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,600}/g],
  [
    'an address with a password in it',
    /\b[a-z][a-z0-9+]{1,20}:\/\/[^\s:@/'"`]{1,64}:[^\s:@/'"`${}<>*]{3,128}@[\w.[-]/gi,
  ],
];

/** `apiKey = "…"`, `password: '…'`: a name that promises a secret, and text that could be one. */
const NAMED_SECRET =
  /(?:passw(?:or)?d|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|bearer[_-]?token|credentials?)[\w$]{0,40}["'`\]]{0,2}\s{0,4}(?::\s{0,4}string\s{0,4})?(?:=|:)\s{0,4}(["'`])([^"'`\s]{8,256})\1/gi;

const PLACEHOLDER =
  /^(?:<.*>|\$\{.*|\{\{.*|%.*%|x+|\*+|\.+|(?:my|the|an?|no|some|test)[^a-z\d].*|(?:your|fake|dummy|sample|example|placeholder|change|replace|insert|enter|invalid|wrong|missing|required|process\.env).*)$/i;

function* hardcodedSecrets(lines: readonly string[]): Generator<Finding> {
  for (const [index, line] of lines.entries()) {
    const known = knownFormats(line);
    for (const [column, what] of known) {
      yield secret(index + 1, column, 'error', `This looks like ${what}, written into the source.`);
    }
    if (known.length > 0) continue;
    for (const match of line.matchAll(NAMED_SECRET)) {
      const value = match[2] ?? '';
      if (PLACEHOLDER.test(value) || !looksRandom(value)) continue;
      yield secret(index + 1, match.index + 1, 'warning', 'A secret seems to be written into the source.');
    }
  }
}

function knownFormats(line: string): [column: number, what: string][] {
  return SECRET_FORMATS.flatMap(([what, format]) =>
    [...line.matchAll(format)].map((match): [number, string] => [match.index + 1, what]),
  );
}

/** Field names and messages are words; secrets mix letters, digits and signs. */
function looksRandom(value: string): boolean {
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z\d]/].filter((kind) => kind.test(value)).length;
  return kinds >= 3 || (/\d/.test(value) && kinds >= 2);
}

/** The secret itself is never repeated: what a review says is stored and shown. */
function secret(line: number, column: number, severity: 'error' | 'warning', message: string): Finding {
  return {
    line,
    column,
    severity,
    rule: 'parley/hardcoded-secret',
    message,
    suggestion: 'Read it from the environment or a secret store, and replace it: what was committed is known.',
  };
}

const MAX_LINE_CHARS = 160;

function* longLines(lines: readonly string[]): Generator<Finding> {
  const long = lines.flatMap((line, index) => (line.length > MAX_LINE_CHARS ? [index] : []));
  const [first] = long;
  if (first === undefined) return;
  const others = long.length === 1 ? '' : ` (and so are ${String(long.length - 1)} more)`;
  yield {
    line: first + 1,
    column: MAX_LINE_CHARS + 1,
    severity: 'info',
    rule: 'parley/long-line',
    message: `The line is ${String(lines[first]?.length ?? 0)} characters long${others}.`,
    suggestion: 'Break it; generated or minified code is better reviewed at its source.',
  };
}
