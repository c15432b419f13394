import { deadline } from '../peer/deadline.js';
import { orAborted } from '../peer/wait.js';

/** Whether the agent can do its work. Answering late (2 s) or throwing counts as no. */
export type HealthCheck = (signal: AbortSignal) => boolean | Promise<boolean>;

const CHECK_MS = 2_000;

export async function isHealthy(check: HealthCheck, signal: AbortSignal): Promise<boolean> {
  const limit = deadline(CHECK_MS, signal);
  try {
    const asked = Promise.resolve().then(() => check(limit.signal));
    return await orAborted(asked, limit.signal, () => limit.signal.reason);
  } catch {
    return false;
  } finally {
    limit.clear();
  }
}
