import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startObjectHost, type ObjectHost } from './object-host.test-helper.js';
import { createObjectStore, type ObjectStore } from './object-store.js';
import type { ReadObject, WriteObject } from './grants.js';

type Answer = Parameters<typeof startObjectHost>[0];

let folder: string;
let host: ObjectHost;
let store: ObjectStore;
const never = new AbortController().signal;
const inAnHour = (): number => Date.now() + 3_600_000;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'objects-'));
});

afterEach(async () => {
  await store.close();
  await host.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function serve(answer: Answer): Promise<void> {
  host = await startObjectHost(answer);
  store = createObjectStore(host.dispatcher);
}

function read(more: Partial<ReadObject> = {}, headers = {}): ReadObject {
  const grant = { url: `${host.url}/x?sig=1`, expiresAt: inAnHour(), headers };
  return { maxBytes: 100, sizeBytes: null, sha256: null, grant, ...more };
}

function write(more: Partial<WriteObject> = {}, headers = {}): WriteObject {
  const grant = { url: `${host.url}/up?sig=2`, expiresAt: inAnHour(), headers };
  return { mediaType: 'application/json', maxBytes: 100, grant, ...more };
}

const failure = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => (error as { code: string }).code,
  );

describe('download', () => {
  it('writes what the store has, asked with the headers of the grant and unchanged on the way', async () => {
    await serve((_request, response) => response.end('hello'));
    const sha256 = createHash('sha256').update('hello').digest('hex');
    await store.download(
      read({ sizeBytes: 5, sha256 }, { 'X-Key': 'k', 'Accept-Encoding': 'gzip' }),
      join(folder, 'f'),
      never,
    );
    expect(readFileSync(join(folder, 'f'), 'utf8')).toBe('hello');
    expect(host.requests).toMatchObject([
      { method: 'GET', path: '/x?sig=1', headers: { 'x-key': 'k', 'accept-encoding': 'identity' } },
    ]);
  });

  it('fails for another size or another digest', async () => {
    await serve((_request, response) => response.end('hello'));
    const wrong = [{ sizeBytes: 6 }, { sizeBytes: 4 }, { sha256: 'a'.repeat(64) }];
    for (const more of wrong) {
      expect(await failure(store.download(read(more), join(folder, 'f'), never))).toBe('integrity_mismatch');
    }
  });

  it('stops at the limit, also of a stream that never ends', async () => {
    await serve((request, response) => {
      const timer = setInterval(() => response.write('y'.repeat(60)), 5);
      response.on('close', () => {
        clearInterval(timer);
      });
    });
    expect(await failure(store.download(read(), join(folder, 'f'), never))).toBe('transfer_too_large');
  });

  it('tries again what may heal, three times in all', async () => {
    await serve((_request, response, count) => {
      response.statusCode = count < 3 ? 503 : 200;
      response.end('ok');
    });
    await store.download(read(), join(folder, 'f'), never);
    expect(host.requests).toHaveLength(3);
    expect(readFileSync(join(folder, 'f'), 'utf8')).toBe('ok');
  }, 10_000);

  it('does not try again what the store refuses, and follows no redirect', async () => {
    await serve((_request, response, count) => {
      response.statusCode = count === 1 ? 403 : 302;
      response.setHeader('location', '/elsewhere');
      response.end();
    });
    expect(await failure(store.download(read(), join(folder, 'f'), never))).toBe('transfer_rejected');
    expect(await failure(store.download(read(), join(folder, 'f'), never))).toBe('transfer_rejected');
    expect(host.requests).toHaveLength(2);
  });

  it('asks nobody with a grant that has expired', async () => {
    await serve((_request, response) => response.end('x'));
    const grant = { url: `${host.url}/x`, expiresAt: Date.now() - 1, headers: {} };
    expect(await failure(store.download(read({ grant }), join(folder, 'f'), never))).toBe('grant_expired');
    expect(host.requests).toEqual([]);
  });

  it('ends when it is aborted, also between two tries', async () => {
    await serve((_request, response) => {
      response.statusCode = 503;
      response.end();
    });
    const aborted = AbortSignal.timeout(100);
    const started = performance.now();
    expect(await failure(store.download(read(), join(folder, 'f'), aborted))).toBe('transfer_timeout');
    expect(performance.now() - started).toBeLessThan(450);
  });

  it('is a failure of the request where the file cannot be written', async () => {
    await serve((_request, response) => response.end('x'));
    expect(await failure(store.download(read(), join(folder, 'no', 'folder'), never))).toBe('invalid_transfer');
  });
});

describe('upload', () => {
  it('sends the bytes with the headers of the grant, and tells their size and digest', async () => {
    await serve((_request, response) => response.end());
    const bytes = Buffer.from('["é"]');
    expect(await store.upload(write({}, { 'X-Key': 'k', 'Content-Length': '1' }), bytes, never)).toEqual({
      size_bytes: 6,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    });
    expect(host.requests).toMatchObject([
      {
        method: 'PUT',
        path: '/up?sig=2',
        headers: { 'x-key': 'k', 'content-type': 'application/json', 'content-length': '6' },
        body: bytes,
      },
    ]);
  });

  it('sends nothing that is over the limit', async () => {
    await serve((_request, response) => response.end());
    expect(await failure(store.upload(write(), Buffer.alloc(101), never))).toBe('transfer_too_large');
    expect(host.requests).toEqual([]);
  });

  it('tries again an upload that a store answers as stalled', async () => {
    await serve((_request, response, count) => {
      response.statusCode = count === 1 ? 400 : 200;
      response.end('<Error><Code>RequestTimeout</Code></Error>');
    });
    await store.upload(write(), Buffer.from('[]'), never);
    expect(host.requests).toHaveLength(2);
  });

  it('fails for good on any other 400', async () => {
    await serve((_request, response) => {
      response.statusCode = 400;
      response.end('<Error><Code>Nope</Code></Error>');
    });
    expect(await failure(store.upload(write(), Buffer.from('[]'), never))).toBe('transfer_rejected');
    expect(host.requests).toHaveLength(1);
  });
});
