const MAX_LENGTH = 128;

/** A name as an agent's id: what an id may not hold becomes `-`. Undefined if nothing of it is left. */
export function agentIdOf(name: string | undefined): string | undefined {
  const id = (name ?? '')
    .replace(/[^A-Za-z0-9._-]+/gu, '-')
    .replace(/^[._-]+/u, '')
    .slice(0, MAX_LENGTH);
  return id === '' ? undefined : id;
}
