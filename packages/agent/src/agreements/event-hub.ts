import type { Logger } from '@parley/service-kit';
import type { AgreementRecord } from './agreement-record.js';
import { toAgreement } from './agreement-view.js';
import type { AgreementEventType, AgreementListener, KeeperMetrics } from './keeper-types.js';

/** Which event a change of state is; undefined for changes that are none, such as renewals. */
export function eventOf(before: AgreementRecord | undefined, after: AgreementRecord): AgreementEventType | undefined {
  if (before === undefined) return 'agreed';
  if (before.state === after.state) return undefined;
  if (after.state === 'ended') return 'ended';
  if (after.state === 'suspended') return 'suspended';
  return before.state === 'pending' ? 'confirmed' : 'resumed';
}

export interface EventHub {
  /** Tells listeners, log and metrics of one transition. */
  publish(before: AgreementRecord | undefined, after: AgreementRecord): void;
  subscribe(listener: AgreementListener): () => void;
}

export function createEventHub(logger: Logger, metrics: KeeperMetrics, now: () => number): EventHub {
  const listeners = new Set<AgreementListener>();
  return {
    publish(before, after) {
      const type = eventOf(before, after);
      if (type === undefined) return;
      logTransition(logger, type, after);
      if (after.endReason !== undefined) metrics.onEnd?.(after.endReason);
      const at = now();
      for (const listener of listeners) {
        try {
          listener({ type, agreement: toAgreement(after, at), record: after, at });
        } catch (error) {
          logger.error('A listener of agreements failed', { event: type, agreement_id: after.agreementId, error });
        }
      }
    },
    subscribe(listener) {
      // A function given twice is two listeners.
      const own: AgreementListener = (event) => {
        listener(event);
      };
      listeners.add(own);
      return () => {
        listeners.delete(own);
      };
    },
  };
}

function logTransition(logger: Logger, type: AgreementEventType, record: AgreementRecord): void {
  const reason = record.endReason === undefined ? '' : `: ${record.endReason}`;
  const fields = {
    agreement_id: record.agreementId,
    session_id: record.sessionId,
    agent_id: record.initiator,
    state: record.state,
    ...(record.endReason === undefined ? {} : { end_reason: record.endReason, ended_by: record.endedBy }),
  };
  const message = `Agreement with ${record.initiator} ${type}${reason}`;
  // Both sides thought that they had agreed on the same: somebody has to look.
  if (record.endReason === 'view_mismatch') logger.error(message, fields);
  else logger.info(message, fields);
}
