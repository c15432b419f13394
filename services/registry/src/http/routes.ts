import { readQuery, type HttpAnswer, type HttpInput, type HttpRoute, type QueryKind } from '@parley/service-kit';
import type { RegisterOutput } from '../api/registration.js';
import type { GetAgentOutput } from '../api/reading.js';
import { pageEncoding, pageText, staleHeaders } from '../api/present.js';
import type { RegistryOperations } from '../api/operations.js';
import type { DiscoverOutcome } from '../replica/core-types.js';

const PAGE_QUERY = { labels: 'pairs', limit: 'number', cursor: 'text', order: 'text' } as const satisfies Record<
  string,
  QueryKind
>;
const DISCOVER_QUERY = {
  ...PAGE_QUERY,
  capabilities: 'list',
  exclude: 'list',
  explain: 'boolean',
} as const satisfies Record<string, QueryKind>;
const AGREEMENTS_QUERY = { state: 'text', agent_id: 'text', limit: 'number', cursor: 'text' } as const satisfies Record<
  string,
  QueryKind
>;

const PAGE_DOC = {
  labels: 'key:value, comma-separated; all must be equal',
  limit: '1-1,000, default 100',
  cursor: 'next_cursor of the page before',
  order: 'id (default), freshest or random',
};

/** `capabilities` of the query is `required_capabilities` of the message. */
function discoverQuery(query: URLSearchParams): unknown {
  const { capabilities, ...rest } = readQuery(query, DISCOVER_QUERY);
  return capabilities === undefined ? rest : { ...rest, required_capabilities: capabilities };
}

const byAgentId = ({ params }: HttpInput): unknown => ({ agent_id: params['agent_id'] });
const page = (outcome: DiscoverOutcome): HttpAnswer => ({
  status: 200,
  body: pageText(outcome),
  encoding: pageEncoding(outcome),
  headers: staleHeaders(outcome.staleSinceMs),
});

export function registryRoutes(operations: RegistryOperations): readonly HttpRoute[] {
  return [
    {
      method: 'post',
      path: '/register',
      operation: operations.register,
      body: 'required',
      input: ({ body }) => body,
      answer: ({ replaced, ...output }: RegisterOutput) => ({
        status: replaced ? 200 : 201,
        body: { ...output, replaced },
      }),
      doc: {
        operationId: 'register',
        summary: 'Registers an agent under a lease, or replaces its registration in full',
        requestMessage: 'parley.v1.AgentManifest',
        responseMessage: 'parley.v1.RegisterResponse',
        successStatus: 201,
        security:
          'A bearer of at least 22 characters becomes, or proves, the owner token. 200 when a registration was replaced.',
      },
    },
    {
      method: 'put',
      path: '/agents/:agent_id/lease',
      operation: operations.renewLease,
      input: byAgentId,
      doc: {
        operationId: 'renewLease',
        summary: 'Renews a lease; 404 lease_unknown: register in full, 503: keep it and try again',
        responseMessage: 'parley.v1.RenewLeaseResponse',
        security: 'The owner token.',
      },
    },
    {
      method: 'delete',
      path: '/agents/:agent_id',
      operation: operations.deregister,
      input: byAgentId,
      answer: () => ({ status: 204 }),
      doc: {
        operationId: 'deregister',
        summary: 'Removes a registration at once',
        successStatus: 204,
        security: 'The owner token, or the operator token.',
      },
    },
    {
      method: 'get',
      path: '/discover',
      operation: operations.discover,
      input: ({ query }) => discoverQuery(query),
      fieldNames: { required_capabilities: 'capabilities' },
      answer: page,
      fast: true,
      doc: {
        operationId: 'discover',
        summary: 'All living agents that have all of the capabilities',
        query: {
          capabilities: 'names or name@range, comma-separated; required',
          ...PAGE_DOC,
          exclude: 'agent ids, comma-separated',
          explain: 'true adds near_misses: who did not match, and why',
        },
        responseMessage: 'parley.v1.DiscoveryResponse',
      },
    },
    {
      method: 'post',
      path: '/discover',
      operation: operations.discover,
      body: 'required',
      input: ({ body }) => body,
      answer: page,
      doc: {
        operationId: 'discoverByBody',
        summary: 'The same as GET /discover, as a body',
        requestMessage: 'parley.v1.DiscoveryRequest',
        responseMessage: 'parley.v1.DiscoveryResponse',
      },
    },
    {
      method: 'get',
      path: '/agents',
      operation: operations.listAgents,
      input: ({ query }) => readQuery(query, PAGE_QUERY),
      answer: page,
      doc: {
        operationId: 'listAgents',
        summary: 'Every living agent, in pages',
        query: PAGE_DOC,
        responseMessage: 'parley.v1.ListAgentsResponse',
      },
    },
    {
      method: 'get',
      path: '/agents/:agent_id',
      operation: operations.getAgent,
      input: byAgentId,
      answer: ({ agent, stale_since: stale }: GetAgentOutput) => ({
        status: 200,
        body: stale === undefined ? agent : { ...agent, stale_since: stale },
        headers: staleHeaders(stale === undefined ? undefined : 0),
      }),
      doc: {
        operationId: 'getAgent',
        summary: 'One living agent with its lease',
        responseMessage: 'parley.v1.RegisteredAgent',
      },
    },
    {
      method: 'post',
      path: '/negotiate',
      operation: operations.negotiate,
      body: 'required',
      input: ({ body }) => body,
      doc: {
        operationId: 'brokerNegotiation',
        summary: 'Negotiates with registered agents on behalf of the caller until one accepts',
        requestMessage: 'parley.v1.BrokerNegotiationRequest',
        responseMessage: 'parley.v1.BrokerNegotiationResponse',
      },
    },
    {
      method: 'post',
      path: '/agreements',
      operation: operations.reportAgreement,
      body: 'required',
      input: ({ body }) => body,
      doc: {
        operationId: 'reportAgreement',
        summary: 'A responder tells the witness what became of an agreement',
        requestMessage: 'parley.v1.ReportAgreementRequest',
        responseMessage: 'parley.v1.ReportAgreementResponse',
        security: "The responder's owner token.",
      },
    },
    {
      method: 'get',
      path: '/agreements',
      operation: operations.listAgreements,
      input: ({ query }) => readQuery(query, AGREEMENTS_QUERY),
      doc: {
        operationId: 'listWitnessedAgreements',
        summary: 'The agreements that were witnessed',
        query: {
          state: 'pending, active, suspended or ended',
          agent_id: 'one of the two parties',
          limit: '1-1,000, default 100',
          cursor: 'next_cursor of the page before',
        },
        responseMessage: 'parley.v1.ListWitnessedAgreementsResponse',
      },
    },
    {
      method: 'get',
      path: '/agreements/:agreement_id',
      operation: operations.getAgreement,
      input: ({ params }) => ({ agreement_id: params['agreement_id'] }),
      answer: ({ agreement }: { agreement: object }) => ({ status: 200, body: agreement }),
      doc: {
        operationId: 'getWitnessedAgreement',
        summary: 'One witnessed agreement',
        responseMessage: 'parley.v1.Agreement',
      },
    },
  ];
}
