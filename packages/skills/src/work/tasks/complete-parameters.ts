import type { ParameterSchema, Scalar } from '@parley/agent';

type Parameters = Readonly<Record<string, Scalar>>;
type Schemas = Readonly<Record<string, ParameterSchema>>;

/** With the defaults of those that nobody gave. */
export function completeParameters(schemas: Schemas, given: Parameters): Parameters {
  const defaults = Object.entries(schemas).flatMap(([name, { default: value }]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return { ...Object.fromEntries(defaults), ...given };
}

/** Names of those that are needed and not given. */
export function missingParameters(schemas: Schemas, given: Parameters): string[] {
  return Object.entries(schemas)
    .filter(
      ([name, { required, default: value }]) => required === true && value === undefined && !Object.hasOwn(given, name),
    )
    .map(([name]) => name);
}
