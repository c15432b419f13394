/** Whether spans are to be exported, by the standard variables. */
export function isTelemetryWanted(env: Readonly<Record<string, string | undefined>>): boolean {
  const endpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '';
  const isOff = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
  return endpoint !== '' && !isOff;
}
