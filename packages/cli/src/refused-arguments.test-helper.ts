import { parseArguments } from './parse-arguments.js';
import { UsageError } from './usage-error.js';

/** Fails unless these arguments are refused as wrong usage, in one line that matches. */
export function expectRefusedInOneLine(
  argv: readonly string[],
  options: Parameters<typeof parseArguments>[1],
  message: RegExp,
): void {
  let thrown: unknown;
  try {
    parseArguments(argv, options);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(UsageError);
  expect((thrown as UsageError).message).toMatch(message);
  expect((thrown as UsageError).message).not.toContain('\n');
}
