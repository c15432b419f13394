import { createMetrics } from './metrics.js';

describe('metrics', () => {
  it('are rendered as Prometheus text, with the service on every line', async () => {
    const metrics = createMetrics({ service: 'registry', processMetrics: false });
    metrics.httpRequest('GET', '/discover', 200, 0.004);
    metrics.grpcRequest('Discover', 0, 0.3);
    metrics.counter('parley_leases_total', 'Leases by outcome.', ['outcome']).inc({ outcome: 'granted' }, 2);
    metrics.histogram('parley_store_seconds', 'Store latency.').observe(20);
    let living = 3;
    metrics.gauge('parley_living_agents', 'Agents alive.', () => living);
    living = 4;
    const text = await metrics.render();
    expect(text).toContain('# TYPE parley_http_request_seconds histogram');
    expect(text).toContain(
      'parley_http_request_seconds_bucket{le="0.0025",service="registry",method="GET",route="/discover",status="200"} 0',
    );
    expect(text).toContain(
      'parley_http_request_seconds_bucket{le="0.005",service="registry",method="GET",route="/discover",status="200"} 1',
    );
    expect(text).toContain('parley_grpc_request_seconds_count{service="registry",method="Discover",code="0"} 1');
    expect(text).toContain('parley_leases_total{outcome="granted",service="registry"} 2');
    expect(text).toContain('parley_store_seconds_bucket{le="10",service="registry"} 0');
    expect(text).toContain('parley_living_agents{service="registry"} 4');
    for (const line of text.split('\n').filter((one) => one !== '' && !one.startsWith('#'))) {
      expect(line).toMatch(/^[a-z_]+\{[^}]*service="registry"[^}]*\} [\d.e+-]+$/);
    }
  });

  it('of the process are there unless switched off', async () => {
    const metrics = createMetrics({ service: 'registry' });
    expect(await metrics.render()).toContain('process_resident_memory_bytes{service="registry"}');
    metrics.registry.clear();
    expect(await createMetrics({ service: 'registry', processMetrics: false }).render()).not.toContain('process_');
  });

  it('of two services in one process do not mix', async () => {
    const [one, other] = ['a', 'b'].map((service) => createMetrics({ service, processMetrics: false }));
    one?.httpRequest('GET', '/', 200, 1);
    expect(await one?.render()).toContain('status="200"');
    expect(await other?.render()).not.toContain('status="200"');
  });
});
