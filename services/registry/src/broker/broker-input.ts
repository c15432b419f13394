import { agentId, negotiationFields, refineNegotiation } from '@parley/agent';
import { z } from 'zod';
import { excludeList, labelSelector } from '../api/schemas.js';

const {
  via: _via,
  offer_id: _offer,
  terms_digest: _digest,
  in_reply_to_offer_id: _reply,
  ...proposal
} = negotiationFields;

/** A proposal as an agent takes it, and whom to ask. */
export const brokerInput = z
  .strictObject({
    ...proposal,
    action: z
      .literal('propose', { error: 'only proposals are brokered; everything else goes to the responder itself' })
      .default('propose'),
    target_agent_id: agentId.optional(),
    strategy: z.literal('first', { error: 'must be first' }).default('first'),
    max_candidates: z.int().min(1, 'at least 1').max(8, 'at most 8').default(8),
    candidate_timeout_ms: z.int().min(1, 'at least 1').max(15_000, 'at most 15,000').default(2_000),
    labels: labelSelector,
    exclude: excludeList,
  })
  .superRefine((request, context) => {
    refineNegotiation(request, context);
  });

export type BrokerInput = z.output<typeof brokerInput>;

const BROKER_FIELDS = new Set([
  'target_agent_id',
  'strategy',
  'max_candidates',
  'candidate_timeout_ms',
  'labels',
  'exclude',
]);

/** What the candidate gets: the initiator's own words, and through whom they came. */
export function proposalFor(input: BrokerInput): object {
  const own = Object.entries(input).filter(([name, value]) => !BROKER_FIELDS.has(name) && value !== undefined);
  return { ...Object.fromEntries(own), via: 'registry' };
}
