/**
 * Preload: `node --import @parley/service-kit/telemetry main.js`. Imports nothing that it instruments.
 * Without OTEL_EXPORTER_OTLP_ENDPOINT nothing is loaded and nothing is exported.
 */
const { env } = process;
const endpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '';
const switchedOff = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
if (endpoint !== '' && !switchedOff) {
  const { startTelemetry } = await import('./start-telemetry.js');
  startTelemetry();
}

export {};
