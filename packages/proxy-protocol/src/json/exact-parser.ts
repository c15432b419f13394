import { JsonError } from './json-error.js';
import type { Json } from './json-value.js';
import './raw-json.js';

export interface ParserBounds {
  readonly maxDepth: number;
  readonly maxNumberLength: number;
  /** `NaN`, `Infinity` and `-Infinity` are numbers, as Python's decoder has it. */
  readonly nonFinite: boolean;
}

const WHITESPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null|NaN|-?Infinity/y;
const WORDS: ReadonlyMap<string, boolean | null | number> = new Map<string, boolean | null | number>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['NaN', NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]);

/** Reads one text letter by letter; for the texts that `JSON.parse` would not keep exactly. */
export class ExactParser {
  private at = 0;
  private depth = 0;

  constructor(
    private readonly text: string,
    private readonly bounds: ParserBounds,
  ) {}

  parse(): Json {
    const value = this.value();
    this.skipWhitespace();
    if (this.at < this.text.length) throw this.unexpected();
    return value;
  }

  private value(): Json {
    this.skipWhitespace();
    switch (this.text[this.at]) {
      case '{':
        return this.nested(() => this.object());
      case '[':
        return this.nested(() => this.array());
      case '"':
        return this.string();
      default:
        return this.wordOrNumber();
    }
  }

  private nested<T>(read: () => T): T {
    this.depth += 1;
    if (this.depth > this.bounds.maxDepth) throw tooDeep(this.bounds.maxDepth);
    this.at += 1;
    const value = read();
    this.depth -= 1;
    return value;
  }

  private object(): Json {
    const object: Record<string, Json> = {};
    if (this.take('}')) return object;
    do {
      this.skipWhitespace();
      const name = this.string();
      if (!this.take(':')) throw this.unexpected();
      setMember(object, name, this.value());
    } while (this.take(','));
    if (!this.take('}')) throw this.unexpected();
    return object;
  }

  private array(): Json {
    const array: Json[] = [];
    if (this.take(']')) return array;
    do array.push(this.value());
    while (this.take(','));
    if (!this.take(']')) throw this.unexpected();
    return array;
  }

  private string(): string {
    if (this.text[this.at] !== '"') throw this.unexpected();
    let end = this.at;
    do end = this.text.indexOf('"', end + 1);
    while (end !== -1 && this.isEscaped(end));
    if (end === -1) throw this.unexpected();
    try {
      const value = JSON.parse(this.text.slice(this.at, end + 1)) as string;
      this.at = end + 1;
      return value;
    } catch {
      throw this.unexpected();
    }
  }

  private isEscaped(quote: number): boolean {
    let first = quote;
    while (this.text[first - 1] === '\\') first -= 1;
    return (quote - first) % 2 === 1;
  }

  private wordOrNumber(): Json {
    const word = this.match(WORD);
    const value = WORDS.get(word);
    if (value === undefined) return this.number();
    if (typeof value === 'number' && !this.bounds.nonFinite) throw this.unexpected();
    this.at += word.length;
    return value;
  }

  private number(): Json {
    const source = this.match(NUMBER);
    if (source === '') throw this.unexpected();
    const limit = this.bounds.maxNumberLength;
    if (source.length > limit) throw new JsonError('number', `a number is longer than ${String(limit)} characters`);
    this.at += source.length;
    const value = Number(source);
    return String(value) === source ? value : JSON.rawJSON(source);
  }

  private take(character: string): boolean {
    this.skipWhitespace();
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private skipWhitespace(): void {
    this.at += this.match(WHITESPACE).length;
  }

  private match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text)?.[0] ?? '';
  }

  private unexpected(): JsonError {
    return new JsonError('syntax', `not JSON at character ${String(this.at)}`);
  }
}

export function tooDeep(maxDepth: number): JsonError {
  return new JsonError('depth', `JSON nested more than ${String(maxDepth)} levels deep`);
}

/** `__proto__` is a name like any other: an assignment would change the object's prototype. */
function setMember(object: Record<string, Json>, name: string, value: Json): void {
  if (name !== '__proto__') {
    object[name] = value;
    return;
  }
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}
