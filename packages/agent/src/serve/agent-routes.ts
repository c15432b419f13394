import { readQuery, type HttpInput, type HttpRoute } from '@parley/service-kit';
import type { AgentOperations } from './agent-operations.js';

const unwrap = ({ agreement }: { agreement: object }) => ({ status: 200, body: agreement });
const PROOF = 'The secret behind proof_hash, as the header Parley-Agreement-Proof.';

/** The id of the path and the body as one input; a body that names another id is refused. */
function withId({ params, body }: HttpInput): unknown {
  const given =
    typeof body === 'object' && body !== null && !Array.isArray(body) ? body : body === undefined ? {} : undefined;
  return given === undefined ? body : { ...given, agreement_id: params['agreement_id'] };
}

export function agentRoutes(operations: AgentOperations): readonly HttpRoute[] {
  return [
    {
      method: 'post',
      path: '/negotiate',
      operation: operations.negotiate,
      body: 'required',
      fast: true,
      input: ({ body }) => body,
      doc: {
        operationId: 'negotiate',
        summary: 'Proposes terms; accepts, declines or withdraws an offer',
        requestMessage: 'parley.v1.NegotiationRequest',
        responseMessage: 'parley.v1.NegotiationResponse',
      },
    },
    {
      method: 'get',
      path: '/agreements',
      operation: operations.listAgreements,
      input: ({ query }) => readQuery(query, { state: 'text', agent_id: 'text', limit: 'number', cursor: 'text' }),
      doc: {
        operationId: 'listAgreements',
        summary: 'The agreements that this agent keeps as responder',
        query: {
          state: 'pending, active, suspended or ended',
          agent_id: 'the initiator',
          limit: '1-1,000',
          cursor: 'next_cursor',
        },
        responseMessage: 'parley.v1.ListAgreementsResponse',
        security: 'The operator token, when one is configured.',
      },
    },
    {
      method: 'get',
      path: '/agreements/:agreement_id',
      operation: operations.getAgreement,
      input: ({ params }) => ({ agreement_id: params['agreement_id'] }),
      answer: unwrap,
      doc: {
        operationId: 'getAgreement',
        summary: 'One agreement, for its party',
        responseMessage: 'parley.v1.Agreement',
        security: PROOF,
      },
    },
    {
      method: 'put',
      path: '/agreements/:agreement_id/confirm',
      operation: operations.confirmAgreement,
      body: 'required',
      input: withId,
      answer: unwrap,
      doc: {
        operationId: 'confirmAgreement',
        summary: 'Makes a pending agreement active',
        requestMessage: 'parley.v1.ConfirmAgreementRequest',
        responseMessage: 'parley.v1.Agreement',
        security: PROOF,
      },
    },
    {
      method: 'put',
      path: '/agreements/:agreement_id',
      operation: operations.renewAgreement,
      body: 'required',
      input: withId,
      answer: unwrap,
      doc: {
        operationId: 'renewAgreement',
        summary: 'Lengthens the lease of a living agreement',
        requestMessage: 'parley.v1.RenewAgreementRequest',
        responseMessage: 'parley.v1.Agreement',
        security: PROOF,
      },
    },
    {
      method: 'delete',
      path: '/agreements/:agreement_id',
      operation: operations.endAgreement,
      input: ({ params, query }) => ({ ...readQuery(query, { reason: 'text' }), agreement_id: params['agreement_id'] }),
      answer: unwrap,
      doc: {
        operationId: 'endAgreement',
        summary: 'Ends an agreement, or answers how it ended before',
        query: { reason: 'why: completed, released_by_initiator, released_by_responder, ...' },
        responseMessage: 'parley.v1.Agreement',
        security: PROOF,
      },
    },
    {
      method: 'post',
      path: '/invoke',
      operation: operations.invoke,
      body: 'required',
      input: ({ body }) => body,
      doc: {
        operationId: 'invoke',
        summary: 'Work under an agreement',
        requestMessage: 'parley.v1.InvokeRequest',
        responseMessage: 'parley.v1.InvokeResponse',
        security: PROOF,
      },
    },
    {
      method: 'post',
      path: '/delegate',
      operation: operations.delegate,
      body: 'required',
      input: ({ body }) => body,
      doc: {
        operationId: 'delegate',
        summary: 'Has work done by another agent: discovers, negotiates, calls',
        requestMessage: 'parley.v1.DelegateRequest',
        responseMessage: 'parley.v1.DelegateResponse',
        security: 'The operator token, when one is configured.',
      },
    },
  ];
}
