import { AgentService, NegotiationService } from '@parley/proto';
import type { GrpcServiceBinding } from '@parley/service-kit';
import type { AgentOperations } from './agent-operations.js';

export function agentBindings(operations: AgentOperations): readonly GrpcServiceBinding[] {
  return [
    {
      service: NegotiationService,
      methods: {
        Negotiate: { operation: operations.negotiate },
        ListAgreements: { operation: operations.listAgreements },
        GetAgreement: { operation: operations.getAgreement },
        ConfirmAgreement: { operation: operations.confirmAgreement },
        RenewAgreement: { operation: operations.renewAgreement },
        EndAgreement: { operation: operations.endAgreement },
      },
    },
    {
      service: AgentService,
      methods: { Invoke: { operation: operations.invoke }, Delegate: { operation: operations.delegate } },
    },
  ];
}
