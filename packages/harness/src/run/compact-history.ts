import type { CompactionPreparation, CompactionRequest, CompactionResult } from '../context/compaction-types.js';
import type { CompactionTrigger } from '../enums.js';
import { messageOf } from '../errors.js';
import type { RunEvents } from '../events/event-hub.js';
import type { RunCompactor } from './collaborators.js';
import type { RunLedger } from './run-ledger.js';

/** Where a compaction takes place: in a run, or on its own. */
export interface CompactionSite {
  readonly compactor: RunCompactor;
  readonly events: RunEvents;
  readonly ledger: RunLedger;
  readonly signal: AbortSignal;
}

/**
 * One compaction with its two events. The history changes only if the journal has taken the new one; a journal that
 * fails makes the compaction fail, and is told apart by `ledger.failure`. Never rejects.
 */
export async function compactHistory(
  site: CompactionSite,
  trigger: CompactionTrigger,
  preparation: CompactionPreparation,
): Promise<CompactionResult> {
  const request = site.compactor.request(trigger, preparation);
  await site.events.emit({ kind: 'compaction_started', request });
  const result = await compact(site, request);
  const succeeded = result.status === 'completed' || result.status === 'skipped';
  await site.events.emit({ kind: succeeded ? 'compaction_completed' : 'compaction_failed', result });
  return result;
}

async function compact(site: CompactionSite, request: CompactionRequest): Promise<CompactionResult> {
  const { operationId, trigger, preparation } = request;
  const outcome = await site.compactor.run({ operationId, trigger, preparation, signal: site.signal });
  const { result, history } = outcome;
  if (history === null || result.summary === null) return result;
  try {
    await site.ledger.compaction(operationId, result.summary, history);
    return result;
  } catch (error) {
    return { ...result, status: 'failed', summary: null, error: messageOf(error) };
  }
}
