export { OpenTelemetryObserver } from './open-telemetry-observer.js';
export type { OpenTelemetryObserverOptions } from './open-telemetry-observer.js';
