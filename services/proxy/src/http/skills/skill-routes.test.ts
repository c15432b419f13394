import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject, SkillRef } from '../../domain/facts.js';
import type { ProxyEngine } from '../../engine/index.js';
import { startClaimedProxy, startProxy, stopProxies } from '../../proxy.test-helper.js';
import { createObjectStore } from '../transfers/index.js';
import { startObjectHost, type ObjectHost } from '../transfers/object-host.test-helper.js';
import { skillRoutes } from './skill-routes.js';

const PATH = '/ext/skill-config';

afterEach(stopProxies);

function file(path = 'SKILL.md', more: object = {}, grant: object = {}): object {
  const read = { kind: 'http-get', url: 'https://127.0.0.1:1/x', expires_at: '2099-01-01T00:00:00Z', ...grant };
  return { path, object: { media_type: 'text/markdown', max_bytes: 10, read, ...more } };
}

function bundle(files: readonly object[], total = 100): object {
  return { name: 'b', description: 'd', skill_bundle: { max_total_bytes: total, files } };
}

describe('a skill that comes as text', () => {
  it('is written to the home of the agent, listed, on the card and in the next turn', async () => {
    const proxy = await startClaimedProxy();
    const skill = {
      name: 'greeter',
      description: 'Greets people.',
      skill_md: '---\nname: greeter\n---\nSay héllo ✓\n',
    };
    expect((await proxy.post(PATH, skill)).text).toBe('{"name":"greeter"}');
    const path = join(proxy.home, 'skills', 'greeter');
    expect(readFileSync(join(path, 'SKILL.md'), 'utf8')).toBe(skill.skill_md);
    expect((await proxy.ask(PATH)).json).toEqual({ skills: { greeter: { description: 'Greets people.' } } });
    expect((await proxy.ask('/.well-known/agent.json')).json).toMatchObject({
      skills: [{ description: 'Greets people.', id: 'skill-greeter', name: 'greeter', tags: ['skill'] }],
    });
    await proxy.open('x');
    expect((await proxy.op('next')).json).toMatchObject({
      turns: [{ skills: [{ name: 'greeter', description: 'Greets people.', path }] }],
    });
  });

  it('is refused if its name is taken, by a skill or by a folder, and if there is no shell', async () => {
    const proxy = await startProxy();
    const skill = { name: 'a', description: 'd', skill_md: 'x' };
    await proxy.post(PATH, skill);
    const again = await proxy.post(PATH, skill);
    expect([again.status, again.text]).toEqual([409, "Skill 'a' is already registered"]);
    mkdirSync(join(proxy.home, 'skills', 'there'));
    const there = await proxy.post(PATH, { ...skill, name: 'there' });
    expect([there.status, there.text]).toEqual([409, "skill 'there' is already added"]);
    expect(readdirSync(join(proxy.home, 'skills')).sort()).toEqual(['a', 'there']);
    const bare = await startProxy({ env: { PROXY_SHELL: 'off' } });
    const none = await bare.post(PATH, skill);
    expect([none.status, none.text]).toEqual([409, 'this proxy works in no sandbox, so it keeps no skills']);
    expect((await bare.post(PATH, { ...skill, name: '../x' })).status).toBe(400);
  });
});

describe('what is refused', () => {
  const cases: readonly (readonly [object, string])[] = [
    [{}, "missing required fields: ['name', 'description']"],
    [{ description: 'd', skill_md: 'x' }, "missing required fields: ['name']"],
    [{ name: 'n', description: 'd' }, 'a skill carries exactly one of skill_md and skill_bundle'],
    [{ ...bundle([file()]), skill_md: 'x' }, 'a skill carries exactly one of skill_md and skill_bundle'],
    [{ name: 'n', description: 'd', skill_md: 'x', extra: 1 }, 'extra: is not a known field'],
    [{ name: 'n', description: 5, skill_md: 'x' }, 'description: must be a string'],
    [{ name: 'n', description: 'd', skill_md: null }, 'skill_md: must be a string'],
    ...['', '.x', '../x', 'a/b', 'a b', 'é', 'x'.repeat(129), '-x', 'x\n'].map(
      (name) =>
        [{ name, description: 'd', skill_md: 'x' }, 'name: must match ^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'] as const,
    ),
    [bundle([file('OTHER.md')]), 'skill_bundle: must contain SKILL.md at its root'],
    [bundle([]), 'skill_bundle: must contain SKILL.md at its root'],
    [bundle([file()], 9), 'skill_bundle: the limits of its files exceed max_total_bytes'],
    [bundle([file()], 0), 'skill_bundle.max_total_bytes: must be at least 1'],
    [bundle([file(), file()]), 'skill_bundle: paths must be unique'],
    [bundle([file(), file('SKILL.md/x')]), 'skill_bundle: a file cannot be the folder of another'],
    ...['../evil', '/etc/evil', 'a/../../b', 'a//b', './a', 'a/', '', 'a\\b', 'a\0b'].map(
      (path) =>
        [
          bundle([file(), file(path)]),
          path === ''
            ? 'skill_bundle.files.1.path: must have at least 1 character'
            : 'skill_bundle.files.1.path: must be a normalized relative POSIX path',
        ] as const,
    ),
    [
      bundle([file('SKILL.md', {}, { url: 'http://127.0.0.1:1/x' })]),
      'skill_bundle.files.0.object.read.url: must be an absolute HTTPS URL',
    ],
    [bundle([file('SKILL.md', {}, { kind: 'http-put' })]), "skill_bundle.files.0.object.read.kind: must be 'http-get'"],
    ...['2099-01-01T00:00:00', '2099-01-01T00:00:00+01:00', 'soon', 5].map(
      (time) =>
        [
          bundle([file('SKILL.md', {}, { expires_at: time })]),
          typeof time === 'string'
            ? 'skill_bundle.files.0.object.read.expires_at: must be an RFC 3339 UTC timestamp'
            : 'skill_bundle.files.0.object.read.expires_at: must be a string',
        ] as const,
    ),
    [bundle([file('SKILL.md', { max_bytes: '10' })]), 'skill_bundle.files.0.object.max_bytes: must be an integer'],
    [bundle([file('SKILL.md', { max_bytes: 0 })]), 'skill_bundle.files.0.object.max_bytes: must be at least 1'],
    [
      bundle([file('SKILL.md', { size_bytes: 11 })]),
      'skill_bundle.files.0.object: size_bytes must not exceed max_bytes',
    ],
    [
      bundle([file('SKILL.md', { sha256: 'A'.repeat(64) })]),
      'skill_bundle.files.0.object.sha256: must match ^[0-9a-f]{64}$',
    ],
  ];

  it('is told with one sentence', async () => {
    const proxy = await startProxy();
    for (const [body, text] of cases) {
      const answer = await proxy.post(PATH, body);
      expect([body, answer.status, answer.text]).toEqual([body, 400, text]);
    }
    expect(existsSync(join(proxy.home, 'skills'))).toBe(false);
  });

  it('with half a surrogate pair', async () => {
    const proxy = await startProxy();
    const answer = await proxy.post(PATH, String.raw`{"name":"sur","description":"d","skill_md":"\ud83d"}`);
    expect([answer.status, answer.text]).toEqual([
      400,
      'skill_md: must be valid Unicode, without half a surrogate pair',
    ]);
  });

  it('as a failed transfer, as JSON, leaves no folder, and its name is free', async () => {
    const proxy = await startProxy();
    const expired = await proxy.post(PATH, bundle([file('SKILL.md', {}, { expires_at: '2020-01-01T00:00:00Z' })]));
    expect([expired.status, expired.headers['content-type'], expired.json]).toEqual([
      410,
      'application/json',
      { error: { code: 'grant_expired', message: 'The object-transfer grant has expired.', retryable: false } },
    ]);
    expect(readdirSync(join(proxy.home, 'skills'))).toEqual([]);
    expect((await proxy.post(PATH, { name: 'b', description: 'd', skill_md: 'x' })).json).toEqual({ name: 'b' });
  });
});

describe('a skill that comes as a bundle', () => {
  let root: string;
  let host: ObjectHost;
  const release = { now: (): void => undefined };

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'skills-'));
    host = await startObjectHost((request, response) => {
      const { url = '' } = request;
      if (url === '/slow') release.now = (): void => void response.end('slow');
      else response.end(url.slice(1));
    });
  });

  afterEach(async () => {
    await host.stop();
    rmSync(root, { recursive: true, force: true });
  });

  const routes = (
    closing = new AbortController().signal,
  ): { add: (fields: object, signal?: AbortSignal) => Promise<unknown>; skills: SkillRef[] } => {
    const skills: SkillRef[] = [];
    const engine = {
      hasShell: true,
      skills,
      addSkill: (skill: SkillRef) => {
        skills.push(skill);
        return Promise.resolve();
      },
    } as unknown as ProxyEngine;
    const [route] = skillRoutes({ engine, skillsFolder: root, store: createObjectStore(host.dispatcher), closing });
    return {
      skills,
      add: async (fields, signal = new AbortController().signal) =>
        route?.handle({ fields: fields as JsonObject, signal }),
    };
  };

  const at = (path: string): object => file(path, {}, { url: `${host.url}/${path.replaceAll('/', '-')}` });

  it('is fetched whole, folders too', async () => {
    const { add, skills } = routes();
    const paths = ['SKILL.md', 'a/b/c.txt', 'a/d.txt', 'e', 'f', 'g'];
    expect(await add(bundle(paths.map(at)))).toEqual({ name: 'b' });
    expect(paths.map((path) => readFileSync(join(root, 'b', path), 'utf8'))).toEqual(
      paths.map((path) => path.replaceAll('/', '-')),
    );
    expect(readdirSync(root)).toEqual(['b']);
    expect(skills).toEqual([{ name: 'b', description: 'd', path: join(root, 'b') }]);
  });

  it('does not hold up skills of other names while it is slow, and keeps its own name reserved', async () => {
    const { add, skills } = routes();
    const slow = add(bundle([at('SKILL.md'), file('slow', {}, { url: `${host.url}/slow` })]));
    expect(await add({ name: 'quick', description: 'd', skill_md: 'x' })).toEqual({ name: 'quick' });
    await expect(add({ name: 'b', description: 'd', skill_md: 'x' })).rejects.toThrow(
      "Skill 'b' is already registered",
    );
    while (host.requests.length < 2) await new Promise((done) => setTimeout(done, 5));
    release.now();
    expect(await slow).toEqual({ name: 'b' });
    expect(skills.map(({ name }) => name)).toEqual(['quick', 'b']);
  });

  it('is given up when its sender goes or the proxy stops, and leaves nothing', async () => {
    const closing = new AbortController();
    const { add, skills } = routes(closing.signal);
    const gone = new AbortController();
    const slow = [at('SKILL.md'), file('slow', {}, { url: `${host.url}/slow` })];
    for (const [controller, signal] of [
      [gone, gone.signal],
      [closing, undefined],
    ] as const) {
      host.requests.length = 0;
      const adding = add(bundle(slow), signal);
      const failed = expect(adding).rejects.toMatchObject({ code: 'transfer_timeout' });
      while (host.requests.length < 2) await new Promise((done) => setTimeout(done, 5));
      controller.abort();
      await failed;
      expect(readdirSync(root)).toEqual([]);
    }
    expect(skills).toEqual([]);
  });
});
