import { stringForm } from './string-form.js';

const MAX_DEPTH = 200;
const UNREADABLE = '[unreadable]';

/** Objects that say more as text than by their properties. */
const TEXT_FORMS = [RegExp, URL, URLSearchParams, Promise, WeakMap, WeakSet, WeakRef] as const;

/**
 * Writes any value as JSON in the style of Python's `json.dumps(…, ensure_ascii=False, default=str)`, which models
 * have seen most. Stops soon after `limit` UTF-16 units, so that a huge value costs no more than a large one.
 */
export class JsonTextWriter {
  #text = '';
  readonly #path = new Set<object>();

  constructor(private readonly limit: number) {}

  /** Never throws. Longer than the limit if something was left out. */
  write(value: unknown): string {
    this.#value(value, '');
    return this.#text;
  }

  #value(value: unknown, key: string): void {
    switch (typeof value) {
      case 'string':
        this.#string(value);
        return;
      case 'number':
        this.#text += Number.isFinite(value) ? String(value) : `"${String(value)}"`;
        return;
      case 'boolean':
        this.#text += String(value);
        return;
      case 'undefined':
        this.#text += 'null';
        return;
      case 'object':
        if (value === null) this.#text += 'null';
        else this.#guarded(value, key);
        return;
      case 'function':
        // Its string form would be its source.
        this.#string('[function]');
        return;
      default:
        this.#string(String(value));
    }
  }

  /** Getters, proxies and toJSON are foreign code: what they throw costs only their own place. */
  #guarded(value: object, key: string): void {
    if (this.#path.has(value)) {
      this.#string('[circular]');
      return;
    }
    if (this.#path.size >= MAX_DEPTH) {
      this.#string('[nested too deeply]');
      return;
    }
    const start = this.#text.length;
    this.#path.add(value);
    try {
      this.#object(value, key);
    } catch {
      this.#text = this.#text.slice(0, start);
      this.#string(stringForm(value, UNREADABLE));
    } finally {
      this.#path.delete(value);
    }
  }

  #object(value: object, key: string): void {
    if (Array.isArray(value)) {
      this.#list(value);
      return;
    }
    const substitute = substituteOf(value, key);
    if (substitute !== value) this.#value(substitute, key);
    else this.#members(value as Readonly<Record<string, unknown>>);
  }

  #list(values: Iterable<unknown>): void {
    this.#text += '[';
    let separator = '';
    for (const value of values) {
      if (this.#isFull) break;
      this.#text += separator;
      this.#value(value, '');
      separator = ', ';
    }
    this.#text += ']';
  }

  #members(value: Readonly<Record<string, unknown>>): void {
    this.#text += '{';
    let separator = '';
    for (const key of Object.keys(value)) {
      if (this.#isFull) break;
      const member = value[key];
      if (member === undefined) continue;
      this.#text += separator;
      this.#string(key);
      this.#text += ': ';
      this.#value(member, key);
      separator = ', ';
    }
    this.#text += '}';
  }

  #string(text: string): void {
    // One unit more than fits is enough to show that the text was too long.
    const part = text.length > this.limit ? text.slice(0, this.limit + 1) : text;
    this.#text += JSON.stringify(part.toWellFormed());
  }

  get #isFull(): boolean {
    return this.#text.length > this.limit;
  }
}

/** What stands for an object in JSON; the object itself if its own properties do. */
function substituteOf(value: object, key: string): unknown {
  // Before toJSON: that of a Buffer lists its bytes as numbers.
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if ('toJSON' in value && typeof value.toJSON === 'function') return jsonFormOf(value as WithToJson, key);
  if (Object.getPrototypeOf(value) === Object.prototype) return value;
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  if (value instanceof Error) return String(value);
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf();
  if (TEXT_FORMS.some((form) => value instanceof form)) return stringForm(value, UNREADABLE);
  return value;
}

interface WithToJson {
  toJSON(key: string): unknown;
}

function jsonFormOf(value: WithToJson, key: string): unknown {
  const form = value.toJSON(key);
  // A toJSON that gives the object back means its properties.
  return form === value ? { ...value, toJSON: undefined } : form;
}
