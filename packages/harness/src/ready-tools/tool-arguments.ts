import type { JsonObject } from '../json.js';
import { ReadyToolError } from './ready-tool-error.js';

/** Reads the arguments of one call. The checks are made here too, since nobody has to check schemas before. */
export class ToolArguments {
  constructor(private readonly values: JsonObject) {}

  /** @throws ReadyToolError if it is missing or no text. */
  text(name: string): string {
    const text = this.optionalText(name);
    if (text === undefined) throw new ReadyToolError(`'${name}' is required`);
    return text;
  }

  optionalText(name: string): string | undefined {
    const value = this.#value(name);
    if (value === undefined || typeof value === 'string') return value;
    throw new ReadyToolError(`'${name}' must be a string`);
  }

  optionalInteger(name: string, minimum: number, maximum: number): number | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= minimum && value <= maximum) return value;
    throw new ReadyToolError(`'${name}' must be an integer from ${minimum} to ${maximum}`);
  }

  optionalNumber(name: string, minimum: number, maximum: number): number | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && value >= minimum && value <= maximum) return value;
    throw new ReadyToolError(`'${name}' must be a number from ${minimum} to ${maximum}`);
  }

  flag(name: string): boolean {
    const value = this.#value(name);
    if (value === undefined || typeof value === 'boolean') return value ?? false;
    throw new ReadyToolError(`'${name}' must be true or false`);
  }

  /** The path that a call is about, as it was given. */
  pathForErrors(): string {
    const path = this.#value('path');
    return typeof path === 'string' ? path : '.';
  }

  /** Models write null for what they leave out. */
  #value(name: string) {
    return Object.hasOwn(this.values, name) ? (this.values[name] ?? undefined) : undefined;
  }
}

/** @throws RangeError */
export function integerOption(value: number | undefined, fallback: number, name: string, minimum = 1): number {
  const number = value ?? fallback;
  if (Number.isSafeInteger(number) && number >= minimum) return number;
  throw new RangeError(`${name} must be an integer of at least ${minimum}`);
}
