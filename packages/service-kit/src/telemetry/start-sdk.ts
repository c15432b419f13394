import type { Instrumentation } from '@opentelemetry/instrumentation';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { publishTelemetry } from './telemetry-handle.js';

/**
 * Exports spans over OTLP/HTTP, set up by the standard variables: OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES,
 * OTEL_EXPORTER_OTLP_*, OTEL_BSP_*, OTEL_TRACES_SAMPLER. Context travels as W3C Trace Context.
 */
export function startSdk(instrumentations: Instrumentation[]): void {
  const sdk = new NodeSDK({
    // The variables are read later and win.
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': 'parley' })),
    traceExporter: new OTLPTraceExporter(),
    metricReaders: [],
    logRecordProcessors: [],
    instrumentations,
  });
  sdk.start();
  publishTelemetry({ shutdown: () => sdk.shutdown() });
}
