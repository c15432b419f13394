/** Times are milliseconds of the agent's own clock. */
export type LeaseState =
  | { readonly kind: 'idle' }
  /** Not registered, or not any more; `attempts` have failed in a row. */
  | { readonly kind: 'registering'; readonly attempts: number }
  | { readonly kind: 'held'; readonly ttlSeconds: number; readonly expiresAt: number; readonly renewAt: number }
  /** The registry could not be asked; the lease may still live, and nothing is registered anew. */
  | { readonly kind: 'late'; readonly ttlSeconds: number; readonly expiresAt: number; readonly attempts: number }
  /** The agent's own health check fails: it is not registered. */
  | { readonly kind: 'unhealthy' }
  | { readonly kind: 'stopped' };

export type LeaseEvent =
  | { readonly type: 'registered'; readonly ttlSeconds: number; readonly replaced: boolean }
  | { readonly type: 'renewed'; readonly ttlSeconds: number }
  /** The first failed renewal of a row, or the first failed registration. */
  | { readonly type: 'late'; readonly error: Error }
  /** The registry does not know the lease (any more): a full registration follows at once. */
  | { readonly type: 'lost'; readonly code: string }
  /** Somebody else holds the id. */
  | { readonly type: 'taken' }
  | { readonly type: 'unhealthy' }
  | { readonly type: 'healthy' }
  | { readonly type: 'stopped' };
