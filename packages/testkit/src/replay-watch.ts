import type { WatchedEvent } from './watch-events.js';

export interface Replay {
  /** Who lives by what was told. */
  readonly living: ReadonlySet<string>;
  /** How often each agent expired. */
  readonly expired: ReadonlyMap<string, number>;
  /** What a watcher must never be told: an event twice or out of order, a change to the state that there is. */
  readonly faults: readonly string[];
}

/** Follows the events of one watch as its reader would, from the snapshot on. */
export function replayWatch(events: readonly WatchedEvent[]): Replay {
  const living = new Set<string>();
  const expired = new Map<string, number>();
  const faults: string[] = [];
  let revision = 0;
  for (const event of events) {
    const { type, agentId = '' } = event;
    if (type === 'snapshot') {
      for (const { agent_id } of event.data['agents'] as { agent_id: string }[]) living.add(agent_id);
    } else if (type === 'resync') {
      living.clear();
    } else {
      if (event.revision <= revision) {
        faults.push(`${type} ${agentId} came as ${String(event.revision)} after ${String(revision)}`);
      }
      if (type === 'registered') {
        if (living.has(agentId)) faults.push(`${agentId} was registered twice`);
        living.add(agentId);
      } else if (type === 'expired' || type === 'deregistered') {
        if (!living.delete(agentId)) faults.push(`${agentId} ended twice`);
        if (type === 'expired') expired.set(agentId, (expired.get(agentId) ?? 0) + 1);
      }
    }
    revision = event.revision;
  }
  return { living, expired, faults };
}
