import { isTelemetryWanted } from './wanted.js';

/**
 * Preload: `node --import @parley/service-kit/telemetry main.js`. Imports nothing that it instruments.
 * Without OTEL_EXPORTER_OTLP_ENDPOINT nothing is loaded and nothing is exported.
 */
if (isTelemetryWanted(process.env)) {
  const { startTelemetry } = await import('./start-telemetry.js');
  startTelemetry();
}

export {};
