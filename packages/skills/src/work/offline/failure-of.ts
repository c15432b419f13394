/** What a result says about its failure; undefined if it is none. */
export function failureOf(result: Readonly<Record<string, unknown>> | undefined): string | undefined {
  if (result === undefined) return 'it gave no result';
  if (typeof result['part'] === 'string') return undefined;
  const reason = result['error'] ?? result['errors'] ?? result['reason'];
  return typeof reason === 'string' ? reason : 'it gave no result';
}
