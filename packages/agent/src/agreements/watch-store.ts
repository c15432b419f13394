import type { AgreementStore } from './agreement-store.js';

/** The same store, with every success and failure of it told. */
export function watchStore(
  store: AgreementStore,
  told: { readonly onSuccess: () => void; readonly onFailure: () => void },
): AgreementStore {
  const watched = async <T>(work: Promise<T>): Promise<T> => {
    try {
      const result = await work;
      told.onSuccess();
      return result;
    } catch (error) {
      told.onFailure();
      throw error;
    }
  };
  return {
    get: (id) => watched(store.get(id)),
    compareAndSet: (version, next) => watched(store.compareAndSet(version, next)),
    list: (filter, limit, cursor) => store.list(filter, limit, cursor),
    living: () => watched(store.living()),
    countLiving: () => watched(store.countLiving()),
    due: (now, limit) => watched(store.due(now, limit)),
    reschedule: (id) => watched(store.reschedule(id)),
    getSession: (initiator, sessionId, now) => watched(store.getSession(initiator, sessionId, now)),
    commit: (commit) => watched(store.commit(commit)),
    claimCall: (claim) => watched(store.claimCall(claim)),
    releaseCall: (id, callId, now) => watched(store.releaseCall(id, callId, now)),
    usage: (id, now) => watched(store.usage(id, now)),
    prune: (now) => watched(store.prune(now)),
  };
}
