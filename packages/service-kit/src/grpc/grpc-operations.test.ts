import { once } from 'node:events';
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import * as grpc from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';
import { closeGrpcServers, startGrpc } from './grpc.test-helper.js';

afterEach(closeGrpcServers);

interface HealthStatus {
  readonly status: string;
}

const { Check, Watch } = healthService as unknown as Record<
  'Check' | 'Watch',
  grpc.MethodDefinition<object, HealthStatus>
>;

function check(client: grpc.Client, service: string): Promise<string> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      Check.path,
      Check.requestSerialize,
      Check.responseDeserialize,
      { service },
      (error, answer) => {
        if (error !== null) reject(error);
        else resolve(answer?.status ?? '');
      },
    );
  });
}

describe('health', () => {
  it('is not serving until told, for the server and each of its services', async () => {
    const { client, setServing } = await startGrpc();
    const both = async (): Promise<string[]> =>
      Promise.all([check(client, ''), check(client, 'parley.v1.RegistryService')]);
    expect(await both()).toEqual(['NOT_SERVING', 'NOT_SERVING']);
    setServing(true);
    expect(await both()).toEqual(['SERVING', 'SERVING']);
    setServing(false);
    expect(await both()).toEqual(['NOT_SERVING', 'NOT_SERVING']);
    await expect(check(client, 'no.such.Service')).rejects.toMatchObject({ code: grpc.status.NOT_FOUND });
  });

  it('tells those who watch it that the server goes, and does not hold it up', async () => {
    const { client, setServing, close } = await startGrpc();
    setServing(true);
    const watching = client.makeServerStreamRequest(Watch.path, Watch.requestSerialize, Watch.responseDeserialize, {
      service: '',
    });
    const seen: string[] = [];
    watching.on('data', ({ status }: HealthStatus) => seen.push(status));
    const failed = once(watching, 'error') as Promise<[grpc.ServiceError]>;
    await once(watching, 'data');
    const started = performance.now();
    await close(30_000);
    expect(performance.now() - started).toBeLessThan(3_000);
    const [error] = await failed;
    expect([seen, error.code]).toEqual([['SERVING', 'NOT_SERVING'], grpc.status.UNAVAILABLE]);
  });
});

/** The reflection service speaks for itself here: no proto file, as a client that knows nothing. */
class Reflection {
  readonly #call: grpc.ClientDuplexStream<Uint8Array, Uint8Array>;

  constructor(client: grpc.Client, version: string) {
    const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
    const same = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
    this.#call = client.makeBidiStreamRequest(path, same, same);
    this.#call.on('error', () => undefined);
  }

  /** Field numbers of ServerReflectionRequest: 3 file by name, 4 file containing symbol, 7 list services. */
  async ask(field: number, text: string): Promise<Map<number, Uint8Array[]>> {
    const answer = once(this.#call, 'data') as Promise<[Uint8Array]>;
    this.#call.write(new BinaryWriter().tag(field, 2).string(text).finish());
    return fields((await answer)[0]);
  }

  end(): void {
    this.#call.end();
  }

  get failed(): Promise<[grpc.ServiceError]> {
    return once(this.#call, 'error') as Promise<[grpc.ServiceError]>;
  }
}

/** The length-delimited fields of a message. */
function fields(message: Uint8Array): Map<number, Uint8Array[]> {
  const out = new Map<number, Uint8Array[]>();
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type === 2) out.set(field, [...(out.get(field) ?? []), reader.bytes()]);
    else reader.skip(type, field);
  }
  return out;
}

const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();

describe.each(['v1', 'v1alpha'])('reflection %s', (version) => {
  it('lists the services', async () => {
    const { client } = await startGrpc();
    const reflection = new Reflection(client, version);
    const [list = new Uint8Array()] = (await reflection.ask(7, '*')).get(6) ?? [];
    const names = (fields(list).get(1) ?? []).map((service) => text(fields(service).get(1)?.[0]));
    expect(names).toEqual(['parley.v1.RegistryService']);
    reflection.end();
  });

  it.each(['parley.v1.RegistryService', 'parley.v1.RegistryService.Discover', 'parley.v1.AgentManifest'])(
    'finds the files of %s, with all that they import',
    async (symbol) => {
      const { client } = await startGrpc();
      const reflection = new Reflection(client, version);
      const [found = new Uint8Array()] = (await reflection.ask(4, symbol)).get(4) ?? [];
      const files = (fields(found).get(1) ?? []).map((file) => fields(file));
      const names = files.map((file) => text(file.get(1)?.[0]));
      expect(names[0]).toMatch(/^parley\/v1\/(registry|manifest)\.proto$/);
      const imported = files.flatMap((file) => (file.get(3) ?? []).map((name) => text(name)));
      expect(names).toEqual(expect.arrayContaining(imported));
      reflection.end();
    },
  );

  it('says when it does not know a symbol, and survives odd ones', async () => {
    const { client } = await startGrpc();
    const reflection = new Reflection(client, version);
    expect((await reflection.ask(4, 'parley.v1.Nothing')).has(7)).toBe(true);
    for (const symbol of ['constructor', '__proto__', '']) await reflection.ask(4, symbol);
    expect((await reflection.ask(7, '*')).has(6)).toBe(true);
    reflection.end();
  });

  it('does not hold up the end of the server', async () => {
    const { client, close } = await startGrpc();
    const reflection = new Reflection(client, version);
    await reflection.ask(7, '*');
    const { failed } = reflection;
    const started = performance.now();
    await close(30_000);
    expect(performance.now() - started).toBeLessThan(3_000);
    expect((await failed)[0].code).toBe(grpc.status.UNAVAILABLE);
  });
});
