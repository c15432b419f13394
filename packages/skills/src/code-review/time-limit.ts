import { createContext, Script } from 'node:vm';

/** What came of work under a limit. */
export type Limited<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'out_of_time' };

/**
 * Runs synchronous work and breaks it off when the time is up: no promise or timer could, because they wait for the
 * event loop, which the work holds. Node's script watchdog stops everything that is called from its script,
 * so the script only calls back. Whatever the work was changing is left half done: throw it away.
 *
 * @param limitMs at least 1, in milliseconds.
 * @throws what `work` throws.
 */
export function runWithin<T>(limitMs: number, work: () => T): Limited<T> {
  let result: Limited<T> = { kind: 'out_of_time' };
  const context = createContext({
    run: () => {
      result = { kind: 'done', value: work() };
    },
  });
  try {
    new Script('run()').runInContext(context, { timeout: Math.max(1, Math.ceil(limitMs)) });
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
  }
  return result;
}
