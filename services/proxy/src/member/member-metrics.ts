import type { Agent, KeeperMetrics, LeaseEvent } from '@parley/agent';
import type { Metrics } from '@parley/service-kit';

export interface MemberMetrics {
  readonly keeper: KeeperMetrics;
  onLease(type: LeaseEvent['type']): void;
  /** The agreements that live are counted when they are asked for. */
  observe(agent: Agent): void;
}

/** What every agent counts, by the same names. */
export function memberMetrics(metrics: Metrics): MemberMetrics {
  const negotiations = metrics.counter('parley_negotiations_total', 'Negotiations answered, by outcome.', [
    'outcome',
    'reason',
  ]);
  const ends = metrics.counter(
    'parley_agreements_ended_total',
    'Agreements of this agent as responder that ended, by reason.',
    ['reason'],
  );
  const leases = metrics.counter('parley_lease_events_total', 'What happened to the registration.', ['type']);
  return {
    keeper: {
      onNegotiation: (outcome, reason) => {
        negotiations.inc({ outcome, reason: reason ?? '' });
      },
      onEnd: (reason) => {
        ends.inc({ reason });
      },
    },
    onLease: (type) => {
      leases.inc({ type });
    },
    observe: (agent) => {
      metrics.gauge('parley_agreements_living', 'Agreements of this agent as responder that have not ended.', () =>
        agent.keeper.countLiving(),
      );
    },
  };
}
