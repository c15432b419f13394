/** What was wrong with a text: no JSON, nested too deeply, a number with too many digits, bytes in no known encoding. */
export type JsonErrorReason = 'syntax' | 'depth' | 'number' | 'encoding';

/** A text that is not taken as JSON. The message holds nothing of the text. */
export class JsonError extends Error {
  override readonly name = 'JsonError';

  constructor(
    readonly reason: JsonErrorReason,
    message: string,
  ) {
    super(message);
  }
}
