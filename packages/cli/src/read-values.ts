import { InvalidArgumentError } from 'commander';

/** @throws InvalidArgumentError, which names the option that was given so. */
export function wholeNumber(value: string): number {
  const number = Number(value);
  if (!/^\d+$/u.test(value) || !Number.isSafeInteger(number) || number < 1) {
    throw new InvalidArgumentError('It takes a whole number from 1.');
  }
  return number;
}

/** Nothing but blanks counts as not given. */
export function set(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value;
}
