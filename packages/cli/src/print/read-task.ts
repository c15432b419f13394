import type { RunSettings } from '../run-settings.js';
import type { TerminalInput } from '../ui/terminal.js';
import { UsageError } from '../usage-error.js';
import { NO_INPUT, readInput } from './read-input.js';

/** An input that was left open without meaning it gives nothing; one that was meant begins soon. */
const FIRST_INPUT_MS = 3_000;

/**
 * The task of the arguments, and below it what comes on the standard input if that is no terminal.
 *
 * @throws UsageError if there is neither.
 */
export async function readTask(
  { task, readsInput }: Pick<RunSettings, 'task' | 'readsInput'>,
  stdin: TerminalInput,
  warn: (message: string) => Promise<void>,
): Promise<string> {
  const input = await inputOf({ task, readsInput }, stdin, warn);
  const whole = [task ?? '', input].filter((part) => part.trim() !== '').join('\n\n');
  if (whole === '') throw new UsageError('a task is needed: as arguments, or on the standard input');
  return whole;
}

async function inputOf(
  { task, readsInput }: Pick<RunSettings, 'task' | 'readsInput'>,
  stdin: TerminalInput,
  warn: (message: string) => Promise<void>,
): Promise<string> {
  const isTty = stdin.isTTY === true;
  const isNeeded = readsInput || (task === undefined && !isTty);
  if (isTty && !isNeeded) return '';
  const input = await readInput(stdin, isNeeded ? undefined : FIRST_INPUT_MS);
  if (input !== NO_INPUT) return input;
  await warn(`nothing came on the standard input within ${FIRST_INPUT_MS / 1000} s: going on without it`);
  return '';
}
