import { storeUnavailable } from '@parley/service-kit';
import type { AgreementStore } from '../src/agreements/agreement-store.js';

export interface FlakyStore extends AgreementStore {
  /** `away`: nothing is done, and says so. */
  health: 'well' | 'away';
}

/** A store that can be taken away. */
export function flakyStore(store: AgreementStore): FlakyStore {
  const reach = <T>(work: () => Promise<T>): Promise<T> =>
    flaky.health === 'away' ? Promise.reject(storeUnavailable(new Error('away'))) : work();
  const flaky: FlakyStore = {
    health: 'well',
    get: (id) => reach(() => store.get(id)),
    compareAndSet: (version, next) => reach(() => store.compareAndSet(version, next)),
    list: (filter, limit, cursor) => reach(() => store.list(filter, limit, cursor)),
    living: () => reach(() => store.living()),
    countLiving: () => reach(() => store.countLiving()),
    due: (now, limit) => reach(() => store.due(now, limit)),
    reschedule: (id) => reach(() => store.reschedule(id)),
    getSession: (initiator, sessionId, now) => reach(() => store.getSession(initiator, sessionId, now)),
    commit: (commit) => reach(() => store.commit(commit)),
    claimCall: (claim) => reach(() => store.claimCall(claim)),
    releaseCall: (id, callId, now) => reach(() => store.releaseCall(id, callId, now)),
    usage: (id, now) => reach(() => store.usage(id, now)),
    prune: (now) => reach(() => store.prune(now)),
  };
  return flaky;
}
