import { AppError, operation, sameSecret, type CallContext } from '@parley/service-kit';
import type { Agent } from '../agent/agent.js';
import {
  confirmAgreementRequest,
  endAgreementRequest,
  getAgreementRequest,
  invokeRequest,
  listAgreementsRequest,
  renewAgreementRequest,
} from '../wire/agreement.js';
import { negotiationRequest } from '../wire/negotiation.js';
import { delegateOperation } from './delegate.js';

export interface AgentOperationDeps {
  readonly agent: Agent;
  /** Where `delegate` looks for partners. */
  readonly registryUrl: string;
  /** When set, listing agreements and delegating need it as a bearer; it may also end any agreement. */
  readonly operatorToken?: string | undefined;
}

/** Who shows it is the party; a header, because bodies are stored and logged. */
export const PROOF_HEADER = 'parley-agreement-proof';

/** Everything that an agent can be asked over a wire; both transports are mounted from this. */
export function agentOperations({ agent, registryUrl, operatorToken }: AgentOperationDeps) {
  const { keeper } = agent;
  const isOperator = (call: CallContext): boolean =>
    operatorToken !== undefined && sameSecret(call.bearer, operatorToken);
  const requireOperator = (call: CallContext): void => {
    if (operatorToken === undefined || isOperator(call)) return;
    if (call.bearer === undefined)
      throw new AppError('unauthenticated', 'The operator token is needed.', { code: 'token_required' });
    throw new AppError('forbidden', 'The operator token is needed.', { code: 'not_operator' });
  };
  return {
    negotiate: operation(negotiationRequest, (request, call) => {
      const proof = call.header(PROOF_HEADER);
      return agent.handleNegotiation(request, proof === undefined ? {} : { proof });
    }),
    listAgreements: operation(listAgreementsRequest, (request, call) => {
      requireOperator(call);
      return keeper.list({
        state: request.state,
        agentId: request.agent_id,
        limit: request.limit,
        cursor: request.cursor,
      });
    }),
    getAgreement: operation(getAgreementRequest, async ({ agreement_id: id }, call) => {
      const input = isOperator(call) ? ({ internal: true } as const) : { proof: call.header(PROOF_HEADER) };
      return { agreement: await keeper.get(id, input) };
    }),
    confirmAgreement: operation(confirmAgreementRequest, async (request, call) => ({
      agreement: await keeper.confirm(request.agreement_id, {
        termsDigest: request.terms_digest,
        proof: call.header(PROOF_HEADER),
      }),
    })),
    renewAgreement: operation(renewAgreementRequest, async (request, call) => ({
      agreement: await keeper.renew(request.agreement_id, {
        leaseRevision: request.lease_revision,
        termsDigest: request.terms_digest,
        proof: call.header(PROOF_HEADER),
        ttlSeconds: request.agreement_ttl_seconds,
        state: request.state,
      }),
    })),
    endAgreement: operation(endAgreementRequest, async (request, call) => {
      if (isOperator(call)) {
        return {
          agreement: await keeper.end(request.agreement_id, { internal: true, reason: request.reason ?? 'operator' }),
        };
      }
      const proof = call.header(PROOF_HEADER);
      return { agreement: await agent.handleEnd(request.agreement_id, { proof, reason: request.reason }) };
    }),
    invoke: operation(invokeRequest, (request, call) =>
      agent.handleInvoke(request, { signal: call.signal, proof: call.header(PROOF_HEADER) }),
    ),
    delegate: delegateOperation({ agent, registryUrl, authorize: requireOperator }),
  } as const;
}

export type AgentOperations = ReturnType<typeof agentOperations>;
