import type { Metrics } from '@parley/service-kit';
import type { StoreObserver } from './store/timed-store.js';
import type { RegistryHooks, RegistryCore } from './replica/core-types.js';

export interface RegistryMetrics {
  readonly store: StoreObserver;
  readonly hooks: RegistryHooks;
  readonly operations: {
    readonly onRegistered: (kind: 'registered' | 'replaced') => void;
    readonly onRenewed: () => void;
    readonly onOutcome: (outcome: string) => void;
  };
  /** Gauges that read the running parts. */
  readonly observe: (core: RegistryCore, watch: { readonly watcherCount: () => number }) => void;
}

export function registryMetrics(metrics: Metrics): RegistryMetrics {
  const registrations = metrics.counter('parley_registrations_total', 'Registrations by kind.', ['kind']);
  const renewals = metrics.counter('parley_lease_renewals_total', 'Leases renewed at this replica.');
  const expired = metrics.counter(
    'parley_leases_expired_total',
    'Leases whose deadline passed, counted once over all replicas.',
  );
  const guarded = metrics.counter('parley_leases_guarded_total', 'Leases that the mass-expiry guard lengthened.');
  const late = metrics.counter(
    'parley_renewals_late_total',
    'Renewals of other replicas learned of only just in time.',
  );
  const resyncs = metrics.counter('parley_resyncs_total', 'New snapshots because the log could not be followed.', [
    'reason',
  ]);
  const negotiations = metrics.counter('parley_negotiations_total', 'Brokered negotiations by outcome.', ['outcome']);
  const store = metrics.histogram('parley_store_seconds', 'Operations of the store by name.', ['operation', 'ok']);
  return {
    store: (operation, seconds, ok) => {
      store.observe({ operation, ok: String(ok) }, seconds);
    },
    hooks: {
      onExpired: (count) => {
        expired.inc(count);
      },
      onGuarded: (count) => {
        guarded.inc(count);
      },
      onRenewedLate: (count) => {
        late.inc(count);
      },
      onResync: (reason) => {
        resyncs.inc({ reason });
      },
    },
    operations: {
      onRegistered: (kind) => {
        registrations.inc({ kind });
      },
      onRenewed: () => {
        renewals.inc();
      },
      onOutcome: (outcome) => {
        negotiations.inc({ outcome });
      },
    },
    observe: (core, watch) => {
      metrics.gauge('parley_agents_living', 'Living agents, as far as this replica knows.', () => core.livingCount());
      metrics.gauge('parley_watchers', 'Subscribers of this replica.', () => watch.watcherCount());
      metrics.gauge('parley_store_reachable', '1 while the store answers.', () =>
        core.status().state === 'live' ? 1 : 0,
      );
    },
  };
}
