import type { AgreementLedger } from './agreement-ledger.js';
import type { KeeperContext } from './keeper-context.js';
import type { Registrations } from './registrations.js';

const BATCH = 100;
const MAX_BATCHES = 100;

/** Acts on every deadline that has passed. Safe beside others: each end is one compare-and-set with one winner. */
export async function sweep(
  { store, logger }: KeeperContext,
  ledger: AgreementLedger,
  registrations: Registrations,
  now: number,
): Promise<number> {
  await ledger.settleUncertain();
  await registrations.suspendOverdue(now);
  const seen = new Set<string>();
  let ended = 0;
  for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
    const due = (await store.due(now, BATCH)).filter(({ agreementId }) => !seen.has(agreementId));
    if (due.length === 0) break;
    for (const { agreementId } of due) {
      seen.add(agreementId);
      // Reading an agreement past its deadline ends it; it is read again, for it may have been renewed meanwhile.
      const record = await ledger.find(agreementId, now);
      if (record?.state === 'ended') ended += 1;
      else if (record !== undefined) await store.reschedule(agreementId);
    }
  }
  await store.prune(now);
  if (ended > 0) logger.debug('Agreements past their deadline have ended', { count: ended });
  return ended;
}
