import type { Express, Request, Response } from 'express';
import type { Metrics } from '../metrics/metrics.js';
import { mountAllow } from './serve-route.js';

export interface Readiness {
  readonly ready: boolean;
  /** Why not, or what is degraded; never a secret. */
  readonly checks: Readonly<Record<string, string>>;
}

export interface OperationsEndpoints {
  readonly metrics: Metrics;
  readonly readiness: () => Readiness;
  readonly openapi: () => object;
}

/** `/healthz` looks at the process only; `/readyz` at what it needs; both and `/metrics` are not traced. */
export function mountOperations(app: Express, endpoints: OperationsEndpoints): void {
  app.get('/healthz', (_request: Request, response: Response) => {
    response.json({ status: 'ok' });
  });
  app.get('/readyz', (_request: Request, response: Response) => {
    const { ready, checks } = endpoints.readiness();
    if (!ready) response.setHeader('Retry-After', '1');
    response.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not_ready', checks });
  });
  app.get('/metrics', async (_request: Request, response: Response) => {
    const text = await endpoints.metrics.render();
    response.setHeader('Content-Type', endpoints.metrics.registry.contentType);
    response.end(text);
  });
  app.get('/openapi.json', (_request: Request, response: Response) => {
    response.json(endpoints.openapi());
  });
  for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json']) mountAllow(app, path, new Set(['GET']));
}
