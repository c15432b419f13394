import { stringForm } from './string-form.js';

const UNREADABLE = 'the tool failed with an unreadable error';

/**
 * The text of whatever a tool threw, be it no error at all. Errors are known by their message, not their class: those of
 * another realm, such as a worker's or a sandbox's, are none of ours.
 */
export function thrownText(error: unknown): string {
  if (error === undefined || error === null) return 'the tool failed without an error';
  const text = (typeof error === 'object' ? errorText(error) : undefined) ?? stringForm(error, UNREADABLE);
  return text === '' ? 'the tool failed without a message' : text;
}

function errorText(error: object): string | undefined {
  try {
    const { message, name } = error as { readonly message?: unknown; readonly name?: unknown };
    return [message, name].find((text) => typeof text === 'string' && text !== '') as string | undefined;
  } catch {
    return UNREADABLE;
  }
}
