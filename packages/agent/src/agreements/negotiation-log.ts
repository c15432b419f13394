import type { Logger } from '@parley/service-kit';
import type { NegotiationResponse } from '../wire/answers.js';
import type { NegotiationRequest } from '../wire/negotiation.js';

/** The two lines of the protocol's trace log: what came in and what became of it, what went out. */
export function logReceived(logger: Logger, request: NegotiationRequest, answer: NegotiationResponse): void {
  const what =
    request.action === 'propose'
      ? `checking capabilities: ${request.capabilities.join(', ')}`
      : `action ${request.action}`;
  logger.step('negotiation_received', `Received negotiation, ${what} -> ${wording(answer)}`, {
    ...identity(request),
    action: request.action,
    ...(request.via === undefined ? {} : { via: request.via }),
    // The peer's own words: for people, and nothing is decided by them.
    ...(request.message === undefined ? {} : { peer_message: request.message }),
  });
}

export function logSent(
  logger: Logger,
  request: NegotiationRequest,
  answer: NegotiationResponse,
  repeated: boolean,
): void {
  logger.step('negotiation_sent', `Sent negotiation response: ${wording(answer)}`, {
    ...identity(request),
    outcome: answer.outcome,
    round: answer.round,
    max_rounds: answer.max_rounds,
    ...(answer.agreement === undefined ? {} : { agreement_id: answer.agreement.agreement_id }),
    ...(answer.offer === undefined ? {} : { offer_id: answer.offer.offer_id }),
    ...(repeated ? { repeated } : {}),
  });
}

function wording({ outcome, reason }: NegotiationResponse): string {
  return outcome === 'declined' && reason !== undefined ? `declined: ${reason.code}` : outcome;
}

function identity({ session_id, agent_id }: NegotiationRequest): Record<string, string> {
  return { session_id, agent_id };
}
