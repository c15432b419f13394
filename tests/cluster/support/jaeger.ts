export interface Span {
  readonly service: string;
  readonly operation: string;
}

/** Of one trace; none while Jaeger does not know it. */
export async function spansOf(jaeger: string, traceId: string): Promise<readonly Span[]> {
  const response = await fetch(`${jaeger}/api/traces/${traceId}`, { signal: AbortSignal.timeout(10_000) });
  if (!response.ok) return [];
  const { data } = (await response.json()) as {
    data: {
      spans: { operationName: string; processID: string }[];
      processes: Record<string, { serviceName: string }>;
    }[];
  };
  return data.flatMap(({ spans, processes }) =>
    spans.map(({ operationName, processID }) => ({
      operation: operationName,
      service: processes[processID]?.serviceName ?? '',
    })),
  );
}
