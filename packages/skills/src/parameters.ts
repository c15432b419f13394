import type { ParameterSchema, Scalar } from '@parley/agent';
import { invalidField } from '@parley/service-kit/base';

/** Reads the parameters in force by the schemas that the skill itself declares, so that the two cannot drift apart. */
export interface ParameterReader {
  /** @throws AppError `invalid_request` for a value that the schema refuses or that is missing without a default. */
  integer(name: string): number;
  /** @throws AppError `invalid_request` as above; `values` are those of the schema's `enum`, as a type. */
  choice<T extends string>(name: string, values: readonly T[]): T;
}

/**
 * An agreement brings its parameters complete and checked. Somebody who calls a skill directly may leave out
 * those with a default, and gets the same refusals for wrong ones. Parameters of other names are left alone.
 */
export function readParameters(
  schemas: Readonly<Record<string, ParameterSchema>>,
  given: Readonly<Record<string, Scalar>>,
): ParameterReader {
  const valueOf = (name: string): Scalar => {
    const value = Object.hasOwn(given, name) ? given[name] : schemas[name]?.default;
    if (value === undefined) throw invalidField(`parameters.${name}`, 'is required');
    return value;
  };
  return {
    integer(name) {
      const value = valueOf(name);
      const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = schemas[name] ?? {};
      if (typeof value !== 'number' || !Number.isInteger(value) || value < minimum || value > maximum) {
        throw invalidField(`parameters.${name}`, `must be an integer from ${String(minimum)} to ${String(maximum)}`);
      }
      return value;
    },
    choice(name, values) {
      const value = valueOf(name);
      const chosen = values.find((candidate) => candidate === value);
      if (chosen === undefined) throw invalidField(`parameters.${name}`, `must be one of ${values.join(', ')}`);
      return chosen;
    },
  };
}
