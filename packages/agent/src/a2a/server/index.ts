export { createA2aServer, type A2aServer, type A2aServerOptions } from './a2a-server.js';
export { readerSignal } from './call-scope.js';
export { buildAgentCard, buildExtendedAgentCard, JSON_RPC_PATH, REST_PATH } from './card/build-agent-card.js';
export { CARD_PATHS } from './card/card-endpoint.js';
export type { A2aCardOptions, CardSkill } from './card/card-options.js';
export { toFailure, type A2aFailure } from './errors/a2a-failure.js';
