import { StringDecoder } from 'node:string_decoder';
import type { TerminalInput } from '../ui/terminal.js';
import { UsageError } from '../usage-error.js';

/** More is refused: no model takes it. */
const MAX_INPUT_CHARS = 4_000_000;

/** Nothing came in time. */
export const NO_INPUT = Symbol('no input');

/**
 * All of the standard input as text. With `firstWithinMs`, something has to come by then: whoever started the program
 * may have left its input open without meaning it.
 *
 * @throws UsageError if it is too long or cannot be read.
 */
export async function readInput(input: TerminalInput, firstWithinMs?: number): Promise<string | typeof NO_INPUT> {
  const decoder = new StringDecoder('utf8');
  const { promise, resolve, reject } = Promise.withResolvers<string | typeof NO_INPUT>();
  let text = '';
  let timer: NodeJS.Timeout | undefined;
  const onData = (chunk: Buffer): void => {
    clearTimeout(timer);
    text += decoder.write(chunk);
    if (text.length > MAX_INPUT_CHARS) reject(new UsageError(`more than ${MAX_INPUT_CHARS} characters of input`));
  };
  const onEnd = (): void => resolve(text + decoder.end());
  const onError = (error: Error): void => {
    reject(new UsageError(`cannot read the standard input: ${error.message}`, { cause: error }));
  };
  if (firstWithinMs !== undefined) timer = setTimeout(() => resolve(NO_INPUT), firstWithinMs);
  input.on('data', onData);
  input.on('end', onEnd);
  input.on('close', onEnd);
  input.on('error', onError);
  try {
    input.resume();
    return await promise;
  } finally {
    clearTimeout(timer);
    input.off('data', onData);
    input.off('end', onEnd);
    input.off('close', onEnd);
    input.off('error', onError);
    input.pause();
  }
}
