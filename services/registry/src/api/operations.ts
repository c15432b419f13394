import { brokerOperation, type BrokerDeps } from '../broker/broker.js';
import { discoverOperation, getAgentOperation, listAgentsOperation } from './reading.js';
import { deregisterOperation, registerOperation, renewOperation, type RegistrationDeps } from './registration.js';
import { watchOperation, type WatchDeps } from './watch.js';
import {
  getWitnessedOperation,
  listWitnessedOperation,
  reportAgreementOperation,
  type WitnessDeps,
} from './witness.js';

export type RegistryOperationDeps = RegistrationDeps & BrokerDeps & WatchDeps & WitnessDeps;

/** Everything that the registry can do; both transports are mounted from this. */
export function registryOperations(deps: RegistryOperationDeps) {
  return {
    register: registerOperation(deps),
    renewLease: renewOperation(deps),
    deregister: deregisterOperation(deps),
    discover: discoverOperation(deps.core),
    listAgents: listAgentsOperation(deps.core),
    getAgent: getAgentOperation(deps.core),
    watch: watchOperation(deps),
    negotiate: brokerOperation(deps),
    reportAgreement: reportAgreementOperation(deps),
    listAgreements: listWitnessedOperation(deps.core),
    getAgreement: getWitnessedOperation(deps.core),
  } as const;
}

export type RegistryOperations = ReturnType<typeof registryOperations>;
