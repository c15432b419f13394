import { RegistryService } from '@parley/proto';
import { grpcWire, httpWire, type HttpTarget, type Wire } from '@parley/testkit';
import type { RunningRegistry } from './start-registry.js';

const HTTP: Readonly<Record<string, HttpTarget>> = {
  Register: { method: 'POST', path: '/register', rest: 'body' },
  RenewLease: { method: 'PUT', path: '/agents/{agent_id}/lease' },
  Deregister: { method: 'DELETE', path: '/agents/{agent_id}' },
  Discover: { method: 'POST', path: '/discover', rest: 'body' },
  ListAgents: { method: 'GET', path: '/agents', rest: 'query' },
  GetAgent: { method: 'GET', path: '/agents/{agent_id}', wrap: 'agent' },
  BrokerNegotiation: { method: 'POST', path: '/negotiate', rest: 'body' },
  ReportAgreement: { method: 'POST', path: '/agreements', rest: 'body' },
  ListWitnessedAgreements: { method: 'GET', path: '/agreements', rest: 'query' },
  GetWitnessedAgreement: { method: 'GET', path: '/agreements/{agreement_id}', wrap: 'agreement' },
};

export function overHttp(registry: RunningRegistry): Wire {
  return httpWire(registry.httpUrl, HTTP);
}

export function overGrpc(registry: RunningRegistry): Wire {
  return grpcWire(registry.grpcTarget, [RegistryService], {
    wrap: (operation, input) => (operation === 'Register' ? { manifest: input } : input),
  });
}
