import { register } from 'node:module';
import { ExpressInstrumentation, ExpressLayerType } from '@opentelemetry/instrumentation-express';
import { GrpcInstrumentation } from '@opentelemetry/instrumentation-grpc';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { startSdk } from './start-sdk.js';
import { isUntraced, UNTRACED_GRPC_METHODS } from './untraced.js';

/** {@link startSdk}, with what goes over the wire as spans of its own. */
export function startTelemetry(): void {
  // The hooks of the instrumentations come in the asynchronous form only. They are found through one of those
  // that depend on them, wherever the package manager put them.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.resolve('@opentelemetry/instrumentation-grpc'));
  startSdk([
    new HttpInstrumentation({
      ignoreIncomingRequestHook: (request) => isUntraced(request.method ?? '', request.url ?? ''),
      requireParentforOutgoingSpans: true,
    }),
    // The route is a span; that a request passed through the middlewares before it goes without saying.
    new ExpressInstrumentation({ ignoreLayersType: [ExpressLayerType.MIDDLEWARE] }),
    new GrpcInstrumentation({ ignoreGrpcMethods: [...UNTRACED_GRPC_METHODS] }),
    new IORedisInstrumentation({
      // The log reader and the sweeper have no parent and would fill the store with noise.
      requireParentSpan: true,
      // Arguments hold manifests and hashes of tokens, and scripts show all of theirs by default.
      dbStatementSerializer: (command) => command,
    }),
    new UndiciInstrumentation({ ignoreRequestHook: (request) => isUntraced(request.method, request.path) }),
  ]);
}
