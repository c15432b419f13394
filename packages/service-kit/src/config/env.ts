import { z } from 'zod';

/** Reads a whole number with bounds and a default: `unit` is part of the variable's name. */
export function intEnv(
  defaultValue: number,
  bounds: { readonly min: number; readonly max: number },
): z.ZodType<number> {
  return z
    .string()
    .regex(/^-?\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(
      z
        .int()
        .min(bounds.min, `at least ${String(bounds.min)}`)
        .max(bounds.max, `at most ${String(bounds.max)}`),
    )
    .default(defaultValue);
}

export function portEnv(defaultValue: number): z.ZodType<number> {
  return intEnv(defaultValue, { min: 0, max: 65_535 });
}

export function boolEnv(defaultValue: boolean): z.ZodType<boolean> {
  return z
    .enum(['true', 'false', '1', '0'], { error: 'must be true or false' })
    .transform((text) => text === 'true' || text === '1')
    .default(defaultValue);
}

export function ratioEnv(defaultValue: number): z.ZodType<number> {
  return z
    .string()
    .regex(/^(?:0|1|0?\.\d+|1\.0+|0\.\d+)$/, 'must be between 0 and 1')
    .transform(Number)
    .default(defaultValue);
}

/** A secret: at least 22 characters of what a header can carry. */
export const secretEnv = z
  .string()
  .regex(/^[\x21-\x7e]{22,256}$/, 'must be 22 to 256 visible ASCII characters without spaces');

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads the environment once, at the start. Blank values count as absent (compose files give them).
 * @throws ConfigError naming every wrong variable; values are not repeated, they may be secrets.
 */
export function readEnv<T extends z.ZodObject>(
  schema: T,
  env: Readonly<Record<string, string | undefined>>,
): z.infer<T> {
  const given = Object.fromEntries(
    Object.keys(schema.shape).map((name) => [name, env[name] === '' ? undefined : env[name]]),
  );
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  throw invalidEnv(result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
}

/** Of `NAME: what is wrong with it`, each a line. */
export function invalidEnv(faults: readonly string[]): ConfigError {
  return new ConfigError(`The environment is not valid:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
}

export const logFormatEnv = z.enum(['json', 'text']).default('json');
export const logLevelEnv = z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info');
