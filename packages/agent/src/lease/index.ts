export type { HealthCheck } from './health.js';
export { LeaseKeeper, type LeaseKeeperOptions } from './lease-keeper.js';
export type { LeaseEvent, LeaseState } from './lease-state.js';
