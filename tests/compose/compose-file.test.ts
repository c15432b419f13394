import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const OURS = ['registry', 'agent-a', 'agent-b', 'proxy'];

interface Service {
  readonly image?: string;
  readonly init?: boolean;
  readonly user?: string;
  readonly read_only?: boolean;
  readonly privileged?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string;
  readonly cpus?: number;
  readonly pids_limit?: number;
  readonly stop_grace_period?: string;
  readonly logging?: { readonly options?: Readonly<Record<string, string>> };
  readonly healthcheck?: { readonly test?: readonly string[] };
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly ports?: readonly { readonly host_ip?: string; readonly published?: string }[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

function services(env: Readonly<Record<string, string>> = {}): [string, Service][] {
  const json = execFileSync('docker', ['compose', 'config', '--format', 'json'], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return Object.entries((JSON.parse(json) as { services: Record<string, Service> }).services);
}

describe('docker-compose.yml', () => {
  const all = services();

  it('has our services and what they need', () => {
    expect(all.map(([name]) => name).sort()).toEqual([...OURS, 'jaeger', 'otel-collector', 'redis'].sort());
  });

  it.each(all)('publishes ports of %s on this machine only', (_name, service) => {
    for (const port of service.ports ?? []) expect(port.host_ip).toBe('127.0.0.1');
  });

  it('changes each published port by a variable of its own', () => {
    const names = [
      'REGISTRY',
      'REGISTRY_GRPC',
      'AGENT_A',
      'AGENT_A_GRPC',
      'AGENT_B',
      'AGENT_B_GRPC',
      'PROXY',
      'PROXY_GRPC',
      'OTLP_HTTP',
      'JAEGER',
    ];
    const env = Object.fromEntries(names.map((name, index) => [`${name}_PORT`, String(20_000 + index)]));
    const published = services(env).flatMap(([, service]) =>
      (service.ports ?? []).map((port) => Number(port.published)),
    );
    expect(published.sort()).toEqual(names.map((_name, index) => 20_000 + index));
  });

  it.each(all)('gives %s no more rights and room than it needs', (_name, service) => {
    expect(service.read_only).toBe(true);
    expect(service.privileged ?? false).toBe(false);
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.security_opt).toEqual(['no-new-privileges:true']);
    expect(Number(service.mem_limit)).toBeGreaterThan(0);
    expect(service.cpus).toBeGreaterThan(0);
    expect(service.pids_limit).toBeGreaterThan(0);
    expect(service.logging?.options).toHaveProperty('max-size');
  });

  it.each(all.filter(([name]) => OURS.includes(name)))(
    'runs %s as a user without rights, under an init',
    (name, service) => {
      expect(service.user).toBe('1000:1000');
      // The proxy's image brings one of its own.
      expect(service.init).toBe(name !== 'proxy');
      expect(service.stop_grace_period).toBe('30s');
    },
  );

  it.each(all.filter(([name]) => OURS.includes(name)))(
    'checks the health of %s with the Node of its image',
    (_name, service) => {
      expect(service.healthcheck?.test?.slice(0, 2)).toEqual(['CMD', 'node']);
    },
  );

  it('starts agents after a registry that serves, and nothing waits for telemetry to be healthy', () => {
    const dependencies = new Map(all.map(([name, service]) => [name, service.depends_on ?? {}]));
    expect(dependencies.get('agent-a')?.registry?.condition).toBe('service_healthy');
    expect(dependencies.get('proxy')?.registry?.condition).toBe('service_healthy');
    expect(dependencies.get('agent-b')?.registry?.condition).toBe('service_healthy');
    expect(dependencies.get('registry')?.redis?.condition).toBe('service_healthy');
    for (const one of dependencies.values()) {
      for (const name of ['otel-collector', 'jaeger']) {
        expect([undefined, 'service_started']).toContain(one[name]?.condition);
      }
    }
  });

  it.each(all)('carries no secret for %s', (_name, service) => {
    for (const [name, value] of Object.entries(service.environment ?? {})) {
      if (/TOKEN|SECRET|PASSWORD|KEY/u.test(name)) expect(value ?? '').toBe('');
    }
  });

  it('takes every image from a variable', () => {
    const env = { NODE_IMAGE: 'n:1', REDIS_IMAGE: 'r:1', OTEL_COLLECTOR_IMAGE: 'o:1', JAEGER_IMAGE: 'j:1' };
    const images = new Map(services(env).map(([name, service]) => [name, service.image]));
    expect([images.get('redis'), images.get('otel-collector'), images.get('jaeger')]).toEqual(['r:1', 'o:1', 'j:1']);
  });
});
