/** An argument that the schema of its tool says is a text. */
export function textOf(argument: unknown): string {
  return typeof argument === 'string' ? argument : '';
}
