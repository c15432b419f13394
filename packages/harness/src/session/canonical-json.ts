import { messageOf } from '../errors.js';
import { SessionSerializationError } from './session-errors.js';

/**
 * JSON with sorted keys at every level and no blanks: the same value always gives the same bytes.
 *
 * @throws SessionSerializationError for what JSON cannot hold, such as NaN or a cycle.
 */
export function canonicalJson(value: unknown): string {
  try {
    return write(value);
  } catch (error) {
    if (error instanceof SessionSerializationError) throw error;
    // A cycle runs out of stack; a toJSON or getter of the caller may throw anything.
    throw new SessionSerializationError(`the data is no JSON: ${messageOf(error)}`, { cause: error });
  }
}

function write(value: unknown): string {
  if (value === null) return 'null';
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'boolean':
      return String(value);
    case 'number':
      if (!Number.isFinite(value)) throw new SessionSerializationError('a number in the data is not finite');
      return JSON.stringify(value);
    case 'object':
      return Array.isArray(value) ? writeArray(value) : writeObject(value);
    default:
      throw new SessionSerializationError(`the data holds a ${typeof value}`);
  }
}

function writeArray(values: readonly unknown[]): string {
  return `[${values.map(write).join(',')}]`;
}

function writeObject(value: object): string {
  let text = '';
  for (const [key, item] of Object.entries(value).sort(byKey)) {
    // A field that was left out and one that is undefined are the same, as for JSON.stringify.
    if (item === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${write(item)}`;
  }
  return `{${text}}`;
}

function byKey(left: readonly [string, unknown], right: readonly [string, unknown]): number {
  return left[0] < right[0] ? -1 : 1;
}
