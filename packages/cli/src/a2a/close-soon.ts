import type { A2aConnection } from '@parley/agent';

/** Nobody waits longer for a connection that is not needed any more. */
const CLOSE_MS = 500;

/** Never rejects. */
export async function closeSoon(connection: Pick<A2aConnection, 'close'> | undefined): Promise<void> {
  if (connection === undefined) return;
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), CLOSE_MS);
  await Promise.race([connection.close().catch(() => undefined), promise]);
  clearTimeout(timer);
}
