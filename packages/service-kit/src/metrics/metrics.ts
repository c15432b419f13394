import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** A service's Prometheus metrics: the common ones here, its own through `counter`, `gauge` and `histogram`. */
export interface Metrics {
  readonly registry: Registry;
  httpRequest(method: string, route: string, status: number, seconds: number): void;
  grpcRequest(method: string, code: number, seconds: number): void;
  counter<L extends string>(name: string, help: string, labels?: readonly L[]): Counter<L>;
  /** Read at each scrape; one that fails to read keeps its last value. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void;
  histogram<L extends string>(name: string, help: string, labels?: readonly L[]): Histogram<L>;
  /** Prometheus text. */
  render(): Promise<string>;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

export function createMetrics(options: { readonly service: string; readonly processMetrics?: boolean }): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service: options.service });
  if (options.processMetrics ?? true) collectDefaultMetrics({ register: registry });
  const histogram = <L extends string>(name: string, help: string, labels: readonly L[] = []): Histogram<L> =>
    new Histogram({ name, help, labelNames: [...labels], buckets: SECONDS, registers: [registry] });
  const http = histogram('parley_http_request_seconds', 'HTTP requests by route and status.', [
    'method',
    'route',
    'status',
  ]);
  const grpc = histogram('parley_grpc_request_seconds', 'gRPC calls by method and status code.', ['method', 'code']);
  return {
    registry,
    httpRequest: (method, route, status, seconds) => {
      http.observe({ method, route, status }, seconds);
    },
    grpcRequest: (method, code, seconds) => {
      grpc.observe({ method, code }, seconds);
    },
    counter: <L extends string>(name: string, help: string, labels: readonly L[] = []): Counter<L> =>
      new Counter({ name, help, labelNames: [...labels], registers: [registry] }),
    gauge: (name, help, read) => {
      new Gauge({
        name,
        help,
        registers: [registry],
        async collect() {
          try {
            this.set(await read());
          } catch {
            // What it counts cannot be counted now: a scrape must not fail because a store is away.
          }
        },
      });
    },
    histogram,
    render: () => registry.metrics(),
  };
}

export type { Counter, Histogram };
