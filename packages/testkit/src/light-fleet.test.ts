import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endEverything, onTestsEnd } from './children.js';
import { startLightFleet } from './light-fleet.js';
import { waitFor } from './wait-for.js';

interface Asked {
  readonly method: string;
  readonly path: string;
}

/** A registry that grants leases of 300 ms and answers each renewal as the test says. */
async function startRegistry(renewal: (count: number) => number): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  let renewals = 0;
  const server = createServer((request, response) => {
    const { method = '', url: path = '' } = request;
    asked.push({ method, path });
    request.resume();
    const status = method === 'POST' ? 201 : renewal(renewals++);
    const lease = { expires_at: new Date(Date.now() + 300).toISOString(), renew_every_seconds: 0.1 };
    response.writeHead(status).end(JSON.stringify(status < 300 ? { lease } : {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestsEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, asked };
}

describe('startLightFleet', () => {
  afterEach(endEverything);

  it('registers everybody, renews at each registry in turn, and ends', async () => {
    const registries = [await startRegistry(() => 200), await startRegistry(() => 200)];
    const fleet = await startLightFleet({ registryUrls: registries.map(({ url }) => url), size: 20, leaseSeconds: 1 });
    expect(fleet.ids).toHaveLength(20);
    expect(fleet.counts.registrations).toBe(20);
    await waitFor(() => fleet.counts.renewals >= 60);
    await fleet.stop();
    for (const { asked } of registries) {
      expect(asked.filter(({ method }) => method === 'POST')).toHaveLength(10);
      expect(asked.filter(({ path }) => path === '/agents/fleet-0/lease').length).toBeGreaterThan(0);
    }
    const { length } = registries.flatMap(({ asked }) => asked);
    expect(fleet.counts).toMatchObject({ unknownLeases: 0, failures: 0 });
    expect(length).toBe(fleet.counts.registrations + fleet.counts.renewals);
  });

  it('counts a lease that is unknown before its time as a broken promise, and a refusal as a failure', async () => {
    const { url } = await startRegistry((count) => [404, 503][count] ?? 200);
    const fleet = await startLightFleet({ registryUrls: [url], size: 1, leaseSeconds: 1, random: () => 0 });
    await waitFor(() => fleet.counts.renewals >= 1);
    expect(fleet.counts).toMatchObject({ registrations: 2, unknownLeases: 1, brokenPromises: 1, failures: 1 });
    expect(fleet.promisedUntilMs('fleet-0')).toBeGreaterThan(Date.now());
    await fleet.stop();
  });
});
