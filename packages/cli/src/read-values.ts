import { InvalidArgumentError } from 'commander';

/** Timers take no more. */
const MAX_SECONDS = 2_000_000;

/** @throws InvalidArgumentError, which names the option that was given so. */
export function wholeNumber(value: string): number {
  const number = Number(value);
  if (!/^\d+$/u.test(value) || !Number.isSafeInteger(number) || number < 1) {
    throw new InvalidArgumentError('It takes a whole number from 1.');
  }
  return number;
}

/** @throws InvalidArgumentError, which names the option that was given so. */
export function seconds(value: string): number {
  const number = Number(value);
  if (!/^\d+(?:\.\d+)?$/u.test(value) || number <= 0 || number > MAX_SECONDS) {
    throw new InvalidArgumentError('It takes a number of seconds.');
  }
  return number;
}

/** Nothing but blanks counts as not given. */
export function set(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value;
}
