import { boundedText } from './bounded-text.js';
import { JsonTextWriter } from './json-text-writer.js';

/**
 * How a tool's data reaches the model: a string as it is, anything else as JSON with `", "` and `": "` between its
 * parts and non-ASCII characters as they are. Never throws: what JSON cannot hold appears in its string form, nothing
 * (`undefined`) as `null`, a cycle as a mark. Lone surrogates become U+FFFD.
 *
 * @param maxBytes Longer text is cut, with a marker at its end.
 */
export function resultText(data: unknown, maxBytes: number): string {
  if (typeof data === 'string') return boundedText(data, maxBytes);
  return boundedText(new JsonTextWriter(maxBytes).write(data), maxBytes);
}
