export type SearchFailure =
  /** It gives no answer. */
  | 'no_registry'
  | 'registry_refused'
  | 'nobody_playable'
  /** By other drivers. */
  | 'all_taken'
  /** For other reasons. */
  | 'no_agreement'
  | 'lost_too_often';

/** There is no proxy to play; the message is one line for people. */
export class ProxySearchFailed extends Error {
  override readonly name = 'ProxySearchFailed';

  constructor(
    readonly code: SearchFailure,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
  }
}
