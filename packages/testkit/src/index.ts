export { startDripServer, startSilentListener, type BadPeer, type DripServerOptions } from './bad-peers.js';
export { endEverything, onTestsEnd } from './children.js';
export { composeStack, dockerEngineVersion, type ComposeStack, type ComposeStackOptions } from './compose-stack.js';
export { findRedisServer } from './find-redis.js';
export { freePort } from './free-port.js';
export { isAlive } from './is-alive.js';
export { startLightFleet, type FleetCounts, type LightFleet, type LightFleetOptions } from './light-fleet.js';
export {
  registrationsUnderChange,
  type RedisChangeOptions,
  type RedisChangeReport,
} from './registrations-under-change.js';
export { replayWatch, type Replay } from './replay-watch.js';
export { startProcess, type ProcessExit, type RunningProcess, type StartProcessOptions } from './start-process.js';
export { startRedis, type RedisServer, type StartRedisOptions } from './start-redis.js';
export {
  startRedisCluster,
  type MoveOptions,
  type RedisCluster,
  type StartRedisClusterOptions,
} from './start-redis-cluster.js';
export { startRedisSentinel, type RedisSentinel, type StartRedisSentinelOptions } from './start-redis-sentinel.js';
export { eventually, waitFor, type WaitOptions } from './wait-for.js';
export { watchEvents, type WatchedEvent, type WatchedEvents, type WatchEventsOptions } from './watch-events.js';
export { badBodies, oddValues } from './bad-bodies.js';
export { problemFaults, rawRequest, sendCase, type HttpCase, type ProblemAnswer } from './expect-problem.js';
export {
  accepted,
  grpcWire,
  httpWire,
  refused,
  type GrpcWireOptions,
  type HttpTarget,
  type Wire,
  type WireFailure,
  type WireMeta,
  type WireResult,
} from './wires.js';
