const UNTRACED_PATHS = new Set([
  '/health',
  '/healthz',
  '/readyz',
  '/metrics',
  '/openapi.json',
  '/watch',
  '/favicon.ico',
]);

/** Health, reflection, heartbeats and long-lived streams, by the names of their methods. */
export const UNTRACED_GRPC_METHODS = ['Check', 'List', 'Watch', 'ServerReflectionInfo', 'RenewLease'] as const;

/**
 * Health, metrics, heartbeats (lease renewals), long polls and long-lived streams are not traced. What a driver asks of
 * a proxy is not either: the proxy tells of its turns with spans of its own.
 */
export function isUntraced(method: string, url: string): boolean {
  const path = url.split('?')[0] ?? '';
  if (UNTRACED_PATHS.has(path) || path.startsWith('/ext/')) return true;
  return method === 'PUT' && /^\/agents\/[^/]+\/lease$/.test(path);
}
