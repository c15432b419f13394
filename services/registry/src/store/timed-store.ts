import type { RegistryStore } from './store.js';

/** Told after each operation of a store that somebody waits for; `ok` is false for one that failed. */
export type StoreObserver = (operation: string, seconds: number, ok: boolean) => void;

const TIMED = [
  'register',
  'renew',
  'deregister',
  'verifyOwner',
  'sweep',
  'recordAgreement',
  'getAgreement',
  'listAgreements',
] as const satisfies readonly (keyof RegistryStore)[];

/** A store that tells how long its operations take; all else about it stays the same. */
export function timedStore(store: RegistryStore, observe: StoreObserver): RegistryStore {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const method = value.bind(target) as (...args: unknown[]) => unknown;
      if (!(TIMED as readonly unknown[]).includes(name)) return method;
      return async (...args: unknown[]) => {
        const started = performance.now();
        let ok = false;
        try {
          const result = await method(...args);
          ok = true;
          return result;
        } finally {
          observe(String(name), (performance.now() - started) / 1_000, ok);
        }
      };
    },
  });
}
