import fc from 'fast-check';
import { AgentEntry } from './agent-entry.js';
import { isoTime } from './iso-time.js';
import { fromManifestJson, toManifestJson } from './manifest.js';
import type { Manifest } from './types.js';

const manifest: Manifest = {
  agentId: 'agent-b',
  name: 'Überprüfer } "b"',
  endpoint: 'http://agent-b:8002',
  capabilities: ['translate', 'code_review'],
  capabilityDetails: { translate: { version: '1.2.0', parameters: { to: { type: 'string', enum: ['de', 'en'] } } } },
  version: '0.1.0',
  labels: { region: 'eu' },
  interfaces: [{ protocol: 'a2a', version: '1.0', url: 'http://agent-b:8002/a2a' }],
  metadata: { team: { name: 'core' } },
};

const facets = { terms: [], versions: undefined, labels: undefined };

test('renders the manifest with lease, revision and time of registration', () => {
  const manifestJson = toManifestJson(manifest);
  const entry = new AgentEntry(
    {
      agentId: 'agent-b',
      manifestJson,
      ttlMs: 10_000,
      deadlineMs: 1_772_000_000_123,
      revision: 1_772_000_000_007,
      registeredAtMs: 1_771_999_999_999,
    },
    facets,
  );
  expect(JSON.parse(entry.render())).toEqual({
    ...(JSON.parse(manifestJson) as object),
    lease: { ttl_seconds: 10, expires_at: '2026-02-25T06:13:20.123Z', renew_every_seconds: 3.333 },
    revision: 1_772_000_000_007,
    registered_at: '2026-02-25T06:13:19.999Z',
  });
  expect(entry.lease()).toEqual({ ttlMs: 10_000, expiresAtMs: 1_772_000_000_123, renewEveryMs: 3_333 });
});

test('a manifest comes back from its JSON as it was, in proto names and order on the wire', () => {
  expect(fromManifestJson(toManifestJson(manifest))).toEqual(manifest);
  const small = { agentId: 'a', name: 'A', endpoint: 'http://a', capabilities: ['x'] };
  expect(toManifestJson(small)).toBe('{"agent_id":"a","name":"A","endpoint":"http://a","capabilities":["x"]}');
  expect(fromManifestJson(toManifestJson(small))).toEqual(small);
});

test('times are written as the platform writes them', () => {
  const time = fc.oneof(
    fc.integer({ min: 0, max: 4_102_444_800_000 }),
    fc.constantFrom(0, 59_999, 60_000, 1_798_761_599_999, 1_798_761_600_000),
  );
  fc.assert(
    fc.property(time, (ms) => {
      expect(isoTime(ms)).toBe(new Date(ms).toISOString());
      expect(isoTime(ms + 0.7)).toBe(new Date(ms).toISOString());
    }),
    { numRuns: 2_000 },
  );
});
