const UNTRACED_PATHS = new Set(['/healthz', '/readyz', '/metrics', '/openapi.json', '/watch', '/favicon.ico']);

/** Health, reflection, heartbeats and long-lived streams, by the names of their methods. */
export const UNTRACED_GRPC_METHODS = ['Check', 'List', 'Watch', 'ServerReflectionInfo', 'RenewLease'] as const;

/** Health, metrics, heartbeats (lease renewals) and long-lived streams are not traced. */
export function isUntraced(method: string, url: string): boolean {
  const path = url.split('?')[0] ?? '';
  return UNTRACED_PATHS.has(path) || (method === 'PUT' && /^\/agents\/[^/]+\/lease$/.test(path));
}
