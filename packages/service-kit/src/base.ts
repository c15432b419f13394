/**
 * The part of the package that every program needs and that loads no server: a process that lives for one piece of work
 * starts in half the time. `@parley/service-kit` has all of it too.
 */
export { AppError, invalidField, type FieldError } from './errors/app-error.js';
export { REASONS, type Reason } from './errors/reasons.js';
export { validate } from './errors/validate.js';
export { createLogger } from './logging/logger.js';
export { startSpans } from './telemetry/start-spans.js';
export { stopTelemetry } from './telemetry/telemetry-handle.js';
