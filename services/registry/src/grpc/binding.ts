import { RegistryService } from '@parley/proto';
import type { GrpcServiceBinding } from '@parley/service-kit';
import type { RegistryOperations } from '../api/operations.js';
import { pageJson } from '../api/present.js';
import type { WatchItem } from '../api/watch.js';

/** The same operations as over HTTP; only where input and output sit in the messages differs. */
export function registryBinding(operations: RegistryOperations): GrpcServiceBinding {
  return {
    service: RegistryService,
    methods: {
      Register: { operation: operations.register, input: ({ manifest }) => manifest ?? {} },
      RenewLease: { operation: operations.renewLease },
      Deregister: { operation: operations.deregister },
      Discover: { operation: operations.discover, output: pageJson },
      ListAgents: { operation: operations.listAgents, output: pageJson },
      GetAgent: { operation: operations.getAgent },
      Watch: { stream: operations.watch, output: (item: WatchItem) => JSON.parse(item.json) as object },
      BrokerNegotiation: { operation: operations.negotiate },
      ReportAgreement: { operation: operations.reportAgreement },
      ListWitnessedAgreements: { operation: operations.listAgreements },
      GetWitnessedAgreement: { operation: operations.getAgreement },
    },
  };
}
