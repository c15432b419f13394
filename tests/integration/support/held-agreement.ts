import { randomUUID } from 'node:crypto';
import { get, post, propose } from './http.js';

/** An agreement of a curl user with an agent that reviews code. */
export interface HeldAgreement {
  /** The status of one piece of work under it. */
  work(): Promise<number>;
  /** Its state and how many calls it counts, as the agent says. */
  state(): Promise<{ readonly state: string; readonly calls_used: number }>;
}

export async function agreeWith(agentUrl: string): Promise<HeldAgreement> {
  const wishes = { agent_id: 'curl', capabilities: ['code_review'], agreement_ttl_seconds: 300 };
  const { status, body } = await propose(agentUrl, wishes);
  if (status !== 200 || body.accepted !== true) throw new Error(`answered ${String(status)}: ${JSON.stringify(body)}`);
  const { agreement_id, terms_digest } = body.agreement;
  const proof = body.agreement_proof;
  const call = { agreement_id, terms_digest, capability: 'code_review', input: { source: 'eval("1")' } };
  return {
    work: async () => (await post(`${agentUrl}/invoke`, { ...call, call_id: randomUUID() }, { proof })).status,
    state: async () => (await get(`${agentUrl}/agreements/${String(agreement_id)}`, { proof })).body,
  };
}
