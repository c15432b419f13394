import { constants } from 'node:fs';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseExact } from '@parley/proxy-protocol';
import { silentLogger, type Logger } from '@parley/service-kit';
import type { Fact, Json } from '../domain/facts.js';
import { compactFacts } from './compact-facts.js';
import type { FactLog } from './fact-log.js';
import { realFiles, type FileLayer } from './file-layer.js';
import { openFactLog, type OpenFactLogOptions } from './open-fact-log.js';

/** An append to a disk always gives a promise. */
const appended = (log: FactLog, stream: string, fact: Fact): Promise<void> => Promise.resolve(log.append(stream, fact));

let dir: string;
let said: string[];
const open: FactLog[] = [];

const logger: Logger = {
  ...silentLogger,
  warn: (message) => said.push(message),
  error: (message) => said.push(message),
};

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'journal-'));
  said = [];
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((log) => log.close()));
  rmSync(dir, { recursive: true, force: true });
});

async function opened(options: Partial<OpenFactLogOptions> = {}): Promise<FactLog> {
  const log = await openFactLog({ dir, logger, ...options });
  open.push(log);
  return log;
}

async function loaded(log: FactLog): Promise<Record<string, readonly Fact[]>> {
  const all: Record<string, readonly Fact[]> = {};
  for await (const { stream, facts } of log.load()) all[stream] = facts;
  return all;
}

const started = (version: number): Fact => ({ kind: 'started', at: version + 0.125, version });
const opening = (taskId: string, at = 1): Fact => ({
  kind: 'turn_opened',
  taskId,
  at,
  version: 1,
  servers: [],
  skills: [],
});

/** A disk on which every write goes through `write`; counts syncs. */
function disk(write: (file: FileHandle, args: [Buffer, number, number, number]) => Promise<{ bytesWritten: number }>): {
  files: FileLayer;
  counts: { writes: number; syncs: number; opens: number; opened: number };
} {
  const counts = { writes: 0, syncs: 0, opens: 0, opened: 0 };
  const files: FileLayer = {
    ...realFiles,
    open: async (path, flags, mode) => {
      const file = await realFiles.open(path, flags, mode);
      if (typeof flags !== 'number' || (flags & constants.O_CREAT) === 0) return file;
      counts.opens += 1;
      counts.opened += 1;
      return new Proxy(file, {
        get: (target, name) => {
          if (name === 'write') {
            return (...args: [Buffer, number, number, number]) => {
              counts.writes += 1;
              return write(target, args);
            };
          }
          if (name === 'datasync') counts.syncs += 1;
          if (name === 'close') counts.opened -= 1;
          const member = Reflect.get(target, name) as unknown;
          return typeof member === 'function' ? (member.bind(target) as unknown) : member;
        },
      });
    },
  };
  return { files, counts };
}

describe('the journal', () => {
  it('gives back what was appended, the proxy first, then turns in the order in which they came', async () => {
    const log = await opened();
    await Promise.all([log.append('later', opening('later', 9)), log.append('earlier', opening('earlier', 3))]);
    await log.append('proxy', started(1));
    await log.close();
    const all = await loaded(await opened());
    expect(Object.keys(all)).toEqual(['proxy', 'earlier', 'later']);
    expect(all).toEqual({ proxy: [started(1)], earlier: [opening('earlier', 3)], later: [opening('later', 9)] });
  });

  it('keeps exact numbers and odd text', async () => {
    const changes = parseExact('{"a":12345678901234567890,"b":1.0,"c":"\\u0000\\ud800你\\u2028","d":1e400}') as Record<
      string,
      Json
    >;
    const log = await opened();
    await log.append('proxy', { kind: 'agent_configured', at: 1764484801123.457, changes });
    await log.close();
    const { proxy } = await loaded(await opened());
    expect(JSON.stringify(proxy)).toBe(
      `[{"kind":"agent_configured","at":1764484801123.457,"changes":${JSON.stringify(changes)}}]`,
    );
    expect(JSON.stringify(proxy)).toContain('12345678901234567890');
  });

  it('is readable by its owner alone', async () => {
    chmodSync(dir, 0o755);
    const log = await opened();
    await Promise.all([log.append('proxy', started(1)), log.append('t', opening('t'))]);
    const modes = ['', 'turns', 'proxy.jsonl', 'turns/t.jsonl', 'lock'].map(
      (name) => statSync(join(dir, name)).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o700, 0o600, 0o600, 0o600]);
  });

  it('takes any task id, and none leads out of its folder', async () => {
    const log = await opened();
    const ids = ['../../proxy', '..', 'a/b', 'proxy.jsonl', '你', ' '];
    await Promise.all(ids.map((id) => appended(log, id, opening(id))));
    await expect(log.append('x'.repeat(300), opening('x'))).rejects.toThrow('shorter name');
    await log.close();
    expect(readdirSync(dir).sort()).toEqual(['proxy.jsonl', 'turns'].filter((name) => existsSync(join(dir, name))));
    expect(Object.keys(await loaded(await opened())).sort()).toEqual(['proxy', ...ids].sort());
  });

  it('writes what comes at once with one write and one sync, what comes meanwhile with the next', async () => {
    const { files, counts } = disk((file, args) => file.write(...args));
    const log = await opened({ files });
    const first = Array.from({ length: 50 }, (_, index) => appended(log, 'proxy', started(index)));
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
    const second = Array.from({ length: 50 }, (_, index) => appended(log, 'proxy', started(50 + index)));
    await Promise.all([...first, ...second]);
    expect([counts.writes, counts.syncs]).toEqual([2, 2]);
    await log.close();
    const { proxy } = await loaded(await opened());
    expect(proxy).toEqual(Array.from({ length: 100 }, (_, index) => started(index)));
  });

  it('keeps no more files open than it may', async () => {
    const { files, counts } = disk((file, args) => file.write(...args));
    const log = await opened({ files, maxOpenFiles: 3 });
    for (let round = 0; round < 2; round += 1) {
      for (let task = 0; task < 10; task += 1) await log.append(`t${task}`, opening(`t${task}`, round));
    }
    await new Promise(setImmediate);
    expect(counts.opened).toBeLessThanOrEqual(4);
    await log.close();
    expect(counts.opened).toBe(0);
    const all = await loaded(await opened());
    expect(Object.values(all).map((facts) => facts.length)).toEqual([0, ...Array.from({ length: 10 }, () => 2)]);
  });

  it('forgets a stream', async () => {
    const log = await opened();
    await log.append('t', opening('t'));
    await log.remove('t');
    await log.remove('never there');
    await log.close();
    expect(readdirSync(join(dir, 'turns'))).toEqual([]);
    await expect(log.append('t', opening('t'))).rejects.toThrow('closed');
  });
});

describe('damage', () => {
  it('of the last line, torn in the middle, costs that line and is said; the next fact begins a new one', async () => {
    let log = await opened();
    await log.append('proxy', started(1));
    await log.append('t', opening('t'));
    await log.close();
    for (const path of ['proxy.jsonl', 'turns/t.jsonl'])
      appendFileSync(join(dir, path), '{"kind":"started","at":7,"vers');
    log = await opened();
    expect(await loaded(log)).toEqual({ proxy: [started(1)], t: [opening('t')] });
    expect(said).toHaveLength(2);
    await log.append('proxy', started(2));
    await log.append('t', opening('t', 2));
    await log.close();
    expect(await loaded(await opened())).toEqual({
      proxy: [started(1), started(2)],
      t: [opening('t'), opening('t', 2)],
    });
  });

  it('at any byte of the last line costs no other', async () => {
    const log = await opened();
    await log.append('proxy', started(1));
    const whole = statSync(join(dir, 'proxy.jsonl')).size;
    await log.append('proxy', started(2));
    await log.close();
    for (let size = statSync(join(dir, 'proxy.jsonl')).size - 1; size >= whole; size -= 1) {
      truncateSync(join(dir, 'proxy.jsonl'), size);
      const next = await opened();
      expect((await loaded(next))['proxy']).toEqual([started(1)]);
      await next.close();
    }
  });

  it('inside the proxy’s own file is a refusal that names the line', async () => {
    const log = await opened();
    await log.append('proxy', started(1));
    await log.append('proxy', started(2));
    await log.close();
    const path = join(dir, 'proxy.jsonl');
    writeFileSync(path, readFileSync(path, 'utf8').replace('"version":1}', '"version":1'));
    await expect(opened().then(loaded)).rejects.toThrow(`line 1 of the journal ${path} is damaged`);
  });

  it('inside the file of a turn moves that one aside, and says so', async () => {
    let log = await opened();
    await Promise.all([log.append('bad', opening('bad')), log.append('good', opening('good'))]);
    await log.close();
    writeFileSync(join(dir, 'turns/bad.jsonl'), '\0\0\0\n{"kind":"turn_ending","at":1}\n');
    log = await opened();
    expect(Object.keys(await loaded(log))).toEqual(['proxy', 'good']);
    expect(readdirSync(join(dir, 'turns')).sort()).toEqual(['bad.jsonl.damaged', 'good.jsonl']);
    expect(said).toEqual([expect.stringContaining('moved aside')]);
  });
});

describe('a disk that fails', () => {
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });

  it('as it is full refuses the append, leaves no part of it, and takes the next when there is room', async () => {
    let room = Number.POSITIVE_INFINITY;
    const { files } = disk(async (file, [bytes, offset, length, position]) => {
      if (room <= 0) throw full;
      const part = Math.min(length, room);
      room -= part;
      return file.write(bytes, offset, part, position);
    });
    const log = await opened({ files });
    await log.append('proxy', started(1));
    const before = readFileSync(join(dir, 'proxy.jsonl'), 'utf8');
    room = before.length + 5;
    const round = [2, 3, 4].map((version) => appended(log, 'proxy', started(version)));
    expect((await Promise.allSettled(round)).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(readFileSync(join(dir, 'proxy.jsonl'), 'utf8')).toBe(before);
    room = Number.POSITIVE_INFINITY;
    await log.append('proxy', started(5));
    await log.close();
    expect((await loaded(await opened()))['proxy']).toEqual([started(1), started(5)]);
  });

  it('and whose rest cannot be cut off at once loses nothing either', async () => {
    let failing = false;
    const { files } = disk(async (file, [bytes, offset, length, position]) => {
      if (!failing) return file.write(bytes, offset, length, position);
      if (length < 5) throw full;
      return file.write(bytes, offset, 4, position).then(() => {
        throw full;
      });
    });
    const cutting: FileLayer = {
      ...files,
      open: async (...args) => {
        const file = await files.open(...args);
        return new Proxy(file, {
          get: (target, name) => {
            if (name === 'truncate' && failing) return () => Promise.reject(full);
            const member = Reflect.get(target, name) as unknown;
            return typeof member === 'function' ? (member.bind(target) as unknown) : member;
          },
        });
      },
    };
    const log = await opened({ files: cutting });
    await log.append('proxy', started(1));
    failing = true;
    await expect(log.append('proxy', started(2))).rejects.toThrow('no space');
    await expect(log.append('proxy', started(3))).rejects.toThrow('no space');
    failing = false;
    await log.append('proxy', started(4));
    await log.close();
    expect((await loaded(await opened()))['proxy']).toEqual([started(1), started(4)]);
  });

  it('lets no more wait than the bound', async () => {
    const { files } = disk((file, args) => file.write(...args));
    const log = await opened({ files, maxWaitingBytes: 200 });
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) => appended(log, 'proxy', started(index))),
    );
    const kept = results.filter(({ status }) => status === 'fulfilled').length;
    expect(kept).toBeGreaterThan(0);
    expect(kept).toBeLessThan(10);
  });
});

describe('compaction', () => {
  const server = (name: string): Fact => ({
    kind: 'server_added',
    at: 1,
    server: { name, url: `http://${name}`, headers: {} },
  });

  it('keeps the claim, the highest version, what is configured, and the servers that are left, in order', () => {
    const facts: Fact[] = [
      started(7),
      { kind: 'claimed', at: 1, tokenHash: 'h' },
      { kind: 'agent_configured', at: 1, changes: { name: 'a', role: 'r' } },
      server('one'),
      server('two'),
      { kind: 'server_removed', at: 2, name: 'one' },
      { kind: 'skill_added', at: 2, skill: { name: 's', description: '', path: '/s' } },
      started(3),
      { kind: 'agent_configured', at: 3, changes: { name: 'b', system_prompt: null } },
      server('one'),
    ];
    expect(compactFacts(facts)).toEqual([
      { ...started(3), version: 7 },
      facts[1],
      facts[6],
      { kind: 'agent_configured', at: 3, changes: { name: 'b', role: 'r', system_prompt: null } },
      facts[4],
      facts[9],
    ]);
  });

  it('happens while facts come, loses none, and leaves nothing behind', async () => {
    const log = await opened({ compactAtBytes: 2_000 });
    const most = { size: 0 };
    for (let round = 0; round < 200; round += 1) {
      await Promise.all([
        log.append('proxy', { kind: 'agent_configured', at: round, changes: { name: `n${round}` } }),
        log.append('proxy', started(round)),
      ]);
      most.size = Math.max(most.size, statSync(join(dir, 'proxy.jsonl')).size);
    }
    await log.close();
    expect(most.size).toBeLessThan(4_000);
    const { proxy = [] } = await loaded(await opened());
    expect(compactFacts(proxy)).toEqual([
      started(199),
      { kind: 'agent_configured', at: 199, changes: { name: 'n199' } },
    ]);
    expect(existsSync(join(dir, 'proxy.jsonl.new'))).toBe(false);
  });
});

describe('the lock', () => {
  it('keeps a second one out, in this process too, until the first is closed', async () => {
    const log = await opened();
    await expect(openFactLog({ dir, logger })).rejects.toThrow('in use by another proxy');
    await log.close();
    await (await opened()).close();
    expect(readdirSync(dir)).not.toContain('lock');
  });

  it.each([
    ['of an ended process', { pid: 2 ** 30 }],
    ['of a process that only has the same id', { startTicks: '1' }],
    ['from before the machine began anew', { bootId: 'another' }],
  ])('%s is taken over', async (_what, change) => {
    const log = await opened();
    const path = join(dir, 'lock');
    const holder = JSON.parse(readFileSync(path, 'utf8')) as object;
    await log.close();
    writeFileSync(path, JSON.stringify({ ...holder, ...change }));
    await (await opened()).close();
    writeFileSync(path, JSON.stringify(holder));
    await expect(openFactLog({ dir, logger })).rejects.toThrow('in use');
    writeFileSync(path, '');
    await opened();
  });

  it('is got by one of many that come at once upon a stale one', async () => {
    writeFileSync(join(dir, 'lock'), '{"pid":1073741824}');
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => opened()));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(readdirSync(dir).filter((name) => name.startsWith('lock'))).toEqual(['lock']);
  });
});
