import type { RegisteredAgent } from '../registry-client/index.js';

const MAX_NAMED = 10;

/** `agent_B (http://agent_B:8001)`, several separated by commas, for the trace log. */
export function namesOf(agents: readonly RegisteredAgent[]): string {
  if (agents.length === 0) return 'none';
  const named = agents.slice(0, MAX_NAMED).map(({ agent_id, endpoint }) => `${agent_id} (${endpoint})`);
  const more = agents.length - named.length;
  return named.join(', ') + (more > 0 ? ` and ${String(more)} more` : '');
}
