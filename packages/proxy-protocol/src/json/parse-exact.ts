import { exceedsDepth } from './depth.js';
import { ExactParser, tooDeep, type ParserBounds } from './exact-parser.js';
import type { Json } from './json-value.js';

export interface ParseLimits {
  /** Arrays and objects within each other; default 512. */
  readonly maxDepth?: number;
  /** Characters of one number; default 4300, as Python has it for integers. */
  readonly maxNumberLength?: number;
  /** Takes `NaN`, `Infinity` and `-Infinity` as numbers; default true. `JSON.stringify` makes null of them. */
  readonly nonFinite?: boolean;
}

const DEFAULTS: ParserBounds = { maxDepth: 512, maxNumberLength: 4300, nonFinite: true };

/**
 * The first digit of a number that a double might not print as it was written: longer than 15 characters, with an
 * exponent, with a fraction that ends in 0, smaller than a millionth, or a negative zero. What stands before it is
 * looked at last, as digits are rarer in a text than spaces: four times as fast. In a string the same letters match
 * too, which costs time and nothing else.
 */
const NEEDS_CARE = /(?<=(?:^|[ \t\n\r:,[])-?)\d(?:[\d.]{15}|\d*(?:\.\d+)?[eE]|\d*\.\d*0(?!\d)|\.000000|(?<=-0)(?!\.))/;

/**
 * Parses JSON so that `JSON.stringify` gives every number back as it was written: a number that a double would not
 * print so (`12345678901234567890`, `1.0`, `1e5`, `-0`) is a raw JSON object, see {@link numberOf}. Of two members
 * with one name the last wins; `__proto__` is an ordinary own member.
 *
 * @throws JsonError for anything else than one JSON value, or one beyond the limits.
 */
export function parseExact(text: string, limits?: ParseLimits): Json {
  const bounds = limits === undefined ? DEFAULTS : { ...DEFAULTS, ...limits };
  if (exceedsDepth(text, bounds.maxDepth)) throw tooDeep(bounds.maxDepth);
  if (NEEDS_CARE.test(text)) return new ExactParser(text, bounds).parse();
  try {
    return JSON.parse(text) as Json;
  } catch {
    // Reads what is JSON to Python alone, and finds the place without quoting the text, which may hold a secret.
    return new ExactParser(text, bounds).parse();
  }
}
