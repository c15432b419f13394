export {
  boolEnv,
  ConfigError,
  intEnv,
  logFormatEnv,
  logLevelEnv,
  portEnv,
  ratioEnv,
  readEnv,
  secretEnv,
} from './config/env.js';
export { AppError, failureOfCall, invalidField, type AppErrorOptions, type FieldError } from './errors/app-error.js';
export { checkPlainJson, parsePlainJson } from './errors/plain-json.js';
export { fromProblem, reasonOfStatus, toProblem, type ProblemBody } from './errors/problem.js';
export { REASONS, type Reason } from './errors/reasons.js';
export { formatPath, validate } from './errors/validate.js';
export {
  createGrpcServer,
  type GrpcMethod,
  type GrpcServerOptions,
  type GrpcServiceBinding,
  type RawGrpcService,
  type RunningGrpcServer,
} from './grpc/grpc-server.js';
export { fromServiceError, PROBLEM_TRAILER, toServiceError } from './grpc/problem-trailer.js';
export { serviceDefinition, UndecodableMessage } from './grpc/service-definition.js';
export { bearerOf, HttpCall, requestIdOf } from './http/call-context.js';
export { createBoundedServer, type BoundedServer } from './http/bounded-server.js';
export type { BrokenRequestAnswer } from './http/broken-requests.js';
export { createHttpServer, sendAnswer, type HttpServerOptions, type RunningHttpServer } from './http/http-server.js';
export { mountOperations, type OperationsEndpoints, type Readiness } from './http/operations-endpoints.js';
export { endAnswer, fromHttpLibrary, logFailure, sendProblem } from './http/problem-response.js';
export { readJsonBody } from './http/read-json-body.js';
export { readQuery, type QueryKind } from './http/query.js';
export type { HttpAnswer, HttpInput, HttpRoute, RouteDoc } from './http/routes.js';
export { runPhases, type PhaseResult, type ShutdownPhase } from './lifecycle/lifecycle.js';
export { runService, type RunnableService } from './lifecycle/run-service.js';
export { within } from './lifecycle/within.js';
export {
  createLogger,
  quoteList,
  silentLogger,
  type LogFields,
  type LogFormat,
  type Logger,
  type LoggerOptions,
  type LogLevel,
} from './logging/logger.js';
export { createMetrics, type Counter, type Histogram, type Metrics } from './metrics/metrics.js';
export { openApiDocument, type OpenApiOptions } from './openapi/openapi.js';
export {
  operation,
  type AnyOperation,
  type AnyStreamOperation,
  type CallContext,
  type Operation,
  type StreamOperation,
} from './operation.js';
export { closeRedis, connectRedis, storeUnavailable, type ConnectRedisOptions } from './redis/connect-redis.js';
export { redisEnv, redisTarget } from './redis/redis-env.js';
export type { RedisTarget, ServerAddress } from './redis/redis-target.js';
export { sameSecret } from './security/same-secret.js';
export { streamEvents, type SseEvent, type SseOptions } from './sse/sse-stream.js';
export { pullItems, type PullEnd } from './streams/pull-items.js';
export { withSignal } from './streams/with-signal.js';
export { publishTelemetry, stopTelemetry } from './telemetry/telemetry-handle.js';
