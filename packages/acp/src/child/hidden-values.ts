import { isHarmlessName } from './child-environment.js';

const MASK = '[redacted]';

/** Shorter values are words such as `1` or `debug`: hiding those would hide half of the text. */
const MIN_LENGTH = 6;

/** A part of a value shorter than this tells nothing. */
const MIN_PART_LENGTH = 3;

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/giu, `$1 ${MASK}`],
  [/(:\/\/)[^\s/@]{1,1000}@/gu, `$1${MASK}@`],
  [
    /((?:key|token|secret|password|passwd|passphrase|credential|cookie|dsn)s?["']? ?[=:] ?["']?)[^\s"',;]+/giu,
    `$1${MASK}`,
  ],
];

export interface HiddenValuesOptions {
  readonly args?: readonly string[] | undefined;
  /** What the child was given on purpose: variables of the parent that were found harmless need not be hidden. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Takes what a child was given out of what it says. */
export class HiddenValues {
  /** Longest first: one may be a part of another. */
  readonly #values: readonly string[];

  constructor({ args = [], env = {} }: HiddenValuesOptions) {
    const values = [...args.map(valueOfArg), ...Object.entries(env).map(valueOfVariable)];
    this.#values = [...new Set(values)]
      .filter((value) => value.length >= MIN_LENGTH)
      .sort((a, b) => b.length - a.length);
  }

  /** `isCut`: the text is the end of a longer one, so that it may begin in the middle of a value. */
  hide(text: string, isCut = false): string {
    let clean = isCut ? this.#withoutRest(text) : text;
    for (const value of this.#values) clean = clean.replaceAll(value, MASK);
    for (const [pattern, replacement] of PATTERNS) clean = clean.replace(pattern, replacement);
    return clean;
  }

  #withoutRest(text: string): string {
    let longest = 0;
    for (const value of this.#values) {
      for (let length = Math.min(value.length - 1, text.length); length > longest; length -= 1) {
        if (length >= MIN_PART_LENGTH && text.startsWith(value.slice(-length))) longest = length;
      }
    }
    return text.slice(longest);
  }
}

/** Names of options tell nothing; paths are what one looks for in an error of a program that does not find its files. */
function valueOfArg(arg: string): string {
  const option = /^--?[\w-]+=(.*)$/su.exec(arg);
  if (option !== null) return option[1] ?? '';
  return /^(?:--?[\w-]+$|\.{0,2}\/)/u.test(arg) ? '' : arg;
}

function valueOfVariable([name, value]: readonly [string, string]): string {
  return isHarmlessName(name) ? '' : value;
}
