import type { Fact } from '../domain/facts.js';

type FactOf<K extends Fact['kind']> = Extract<Fact, { readonly kind: K }>;

/**
 * The fewest facts of the proxy as a whole that make the same state: the claim, the last start, one configuration, and
 * the servers and skills that are there, in order. Facts of kinds that it does not know stay as they are.
 */
export function compactFacts(facts: readonly Fact[]): readonly Fact[] {
  const servers = new Map<string, FactOf<'server_added'>>();
  const others: Fact[] = [];
  let started: FactOf<'started'> | undefined;
  let configured: FactOf<'agent_configured'> | undefined;
  for (const fact of facts) {
    if (fact.kind === 'started') {
      // The version must never be lower than one that was given out.
      started = { ...fact, version: Math.max(fact.version, started?.version ?? 0) };
    } else if (fact.kind === 'agent_configured') {
      configured = { ...fact, changes: { ...configured?.changes, ...fact.changes } };
    } else if (fact.kind === 'server_added') {
      servers.set(fact.server.name, fact);
    } else if (fact.kind === 'server_removed') {
      servers.delete(fact.name);
    } else {
      others.push(fact);
    }
  }
  return [started, ...others, configured, ...servers.values()].filter((fact) => fact !== undefined);
}
