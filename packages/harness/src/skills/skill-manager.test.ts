import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SkillNotFoundError, SkillsFolderError } from './skill-errors.js';
import { SkillManager } from './skill-manager.js';

type Files = Readonly<Record<string, string | Uint8Array>>;

let base: string;
let root: string;
let warnings: { readonly message: string; readonly details: unknown }[];
const logger = { warn: (message: string, details: unknown) => void warnings.push({ message, details }) };

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'skills-')));
  root = join(base, 'skills');
  await mkdir(root);
  warnings = [];
});

afterEach(() => rm(base, { recursive: true }));

async function write(files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const full = join(root, path);
    await mkdir(join(full, '..'), { recursive: true });
    await writeFile(full, content);
  }
}

async function started(files: Files, options: { readonly maxSkillBytes?: number } = {}): Promise<SkillManager> {
  await write(files);
  const manager = new SkillManager(root, { logger, ...options });
  await manager.start();
  return manager;
}

function namesOf(manager: SkillManager): string[] {
  return manager.skills.map(({ name }) => name);
}

describe('SkillManager', () => {
  it('finds child folders with a SKILL.md, in the order of their names', async () => {
    const manager = await started({
      'zeta/SKILL.md': '---\nname: first\ndescription: |\n  Two\n  lines\n---\nx',
      'Alpha/SKILL.md': 'no front matter at all',
      'empty/readme.md': 'x',
      'deep/er/SKILL.md': 'x',
      'file.md': 'x',
    });
    expect(manager.skills).toMatchObject([
      { name: 'Alpha', description: '', location: join(root, 'Alpha', 'SKILL.md') },
      { name: 'first', description: 'Two lines', location: join(root, 'zeta', 'SKILL.md') },
    ]);
    expect(warnings).toEqual([]);
  });

  it('lists name, description and absolute location', async () => {
    const long = 'd'.repeat(3_000);
    const manager = await started({ 'a/SKILL.md': `---\ndescription: ${long}\n---`, 'b/SKILL.md': '' });
    const lines = manager.indexText?.split('\n') ?? [];
    expect(lines.slice(-6)).toEqual([
      '- name: a',
      `  description: ${'d'.repeat(1_023)}…`,
      `  location: ${join(root, 'a', 'SKILL.md')}`,
      '- name: b',
      '  description: (none)',
      `  location: ${join(root, 'b', 'SKILL.md')}`,
    ]);
  });

  it('has nothing to list in an empty folder, or before the start', async () => {
    const manager = new SkillManager(root);
    expect([manager.skills, manager.indexText, manager.select('$a')]).toEqual([[], null, null]);
    await manager.start();
    expect([manager.skills, manager.indexText, manager.select('$a')]).toEqual([[], null, null]);
  });

  it('gives the whole skill with template and sample', async () => {
    const manager = await started({
      'notes/SKILL.md': '---\nname: release_notes\n---\n\nDo it well.\n',
      'notes/template.md': 'TEMPLATE\n',
      'notes/examples/sample.md': 'SAMPLE\n',
      'plain/SKILL.md': 'Plainly.',
    });
    const selected = manager.select('use $release_notes');
    expect(selected?.name).toBe('release_notes');
    const [head, ...sections] = selected?.text.split('\n\n[') ?? [];
    expect(head).toContain('"release_notes"');
    expect(head).toContain(join(root, 'notes'));
    expect(sections).toEqual([
      'SKILL.md]\n---\nname: release_notes\n---\n\nDo it well.',
      'template.md]\nTEMPLATE',
      'examples/sample.md]\nSAMPLE',
    ]);
    expect(manager.select('again $release_notes')?.text).toBe(selected?.text);
    expect(manager.select('', 'plain')?.text).toMatch(/\[SKILL\.md\]\nPlainly\.$/u);
  });

  it('takes the explicit name before what the text names, and exactly', async () => {
    const manager = await started({ 'a/SKILL.md': '', 'b/SKILL.md': '' });
    expect(manager.select('$a', 'b')?.name).toBe('b');
    expect(() => manager.select('$a', 'B')).toThrow(SkillNotFoundError);
    expect(() => manager.select('$a', 'c')).toThrow('no skill is named "c"; there are a, b');
    expect(manager.select('$c')).toBeNull();
  });

  it('says so if there are no skills to choose from', () => {
    expect(() => new SkillManager(root).select('', 'x')).toThrow('no skill is named "x"; there are none');
  });

  it('reads a file with a byte order mark', async () => {
    const manager = await started({ 'a/SKILL.md': '\uFEFF---\nname: marked\n---\nx' });
    expect(namesOf(manager)).toEqual(['marked']);
  });

  it('keeps what it read at the start', async () => {
    const manager = await started({ 'a/SKILL.md': 'old' });
    await write({ 'a/SKILL.md': 'new', 'b/SKILL.md': '' });
    await manager.start();
    expect(namesOf(manager)).toEqual(['a']);
    expect(manager.select('$a')?.text).toMatch(/old$/u);
  });
});

describe('SkillManager: one broken skill', () => {
  it.each<[string, Files, RegExp]>([
    ['bad YAML', { 'm/SKILL.md': '---\nname: [x\n---' }, /no YAML/u],
    ['front matter that is a list', { 'm/SKILL.md': '---\n- x\n---' }, /no mapping/u],
    ['a number as name', { 'm/SKILL.md': '---\nname: 5\n---' }, /needs quotes/u],
    ['no end marker', { 'm/SKILL.md': '---\nname: x\nbody' }, /no end marker/u],
    ['other bytes than UTF-8', { 'm/SKILL.md': Uint8Array.of(0xff, 0xfe, 0x41) }, /SKILL\.md is not UTF-8/u],
    [
      'a template that is not UTF-8',
      { 'm/SKILL.md': '', 'm/template.md': Uint8Array.of(0xc3) },
      /template\.md is not/u,
    ],
    ['a name that is taken', { 'm/SKILL.md': '---\nname: a\n---' }, /named "a" already/u],
    ['too many bytes', { 'm/SKILL.md': 'x'.repeat(101) }, /SKILL\.md has more than 100 bytes/u],
    [
      'a sample of too many bytes',
      { 'm/SKILL.md': '', 'm/examples/sample.md': 'x'.repeat(101) },
      /sample\.md has more/u,
    ],
    ['a folder as SKILL.md', { 'm/SKILL.md/x': '' }, /SKILL\.md is no file/u],
    ['a line end in its path', { 'm\n- name: evil/SKILL.md': '' }, /control characters/u],
  ])('is left out with a warning, the others stay: %s', async (_name, files, reason) => {
    const manager = await started({ 'a/SKILL.md': 'first', ...files, 'z/SKILL.md': 'last' }, { maxSkillBytes: 100 });
    expect(namesOf(manager)).toEqual(['a', 'z']);
    expect(manager.select('$a')?.text).toMatch(/first$/u);
    expect(warnings).toMatchObject([
      {
        message: 'a skill is left out',
        details: { folder: Object.keys(files)[0]?.split('/')[0], reason: expect.stringMatching(reason) as string },
      },
    ]);
  });

  it('takes an unquoted colon in a description without a word', async () => {
    const manager = await started({ 'a/SKILL.md': '---\nname: a\ndescription: Use this: often\n---' });
    expect(manager.skills[0]?.description).toBe('Use this: often');
    expect(warnings).toEqual([]);
  });

  it('is one whose files are links to outside of the folder', async () => {
    await writeFile(join(base, 'secret.md'), 'secret');
    await write({ 'in/SKILL.md': 'fine', 'in/real.md': 'T', 'out/x': '', 'template/SKILL.md': '' });
    await mkdir(join(base, 'foreign'));
    await writeFile(join(base, 'foreign', 'SKILL.md'), 'foreign');
    await symlink(join(root, 'in', 'real.md'), join(root, 'in', 'template.md'));
    await symlink(join(base, 'secret.md'), join(root, 'out', 'SKILL.md'));
    await symlink(join(base, 'secret.md'), join(root, 'template', 'template.md'));
    await symlink(join(base, 'foreign'), join(root, 'linked'));
    await symlink(join(root, 'loop'), join(root, 'loop'));
    const manager = await started({});
    expect(namesOf(manager)).toEqual(['in']);
    expect(manager.select('$in')?.text).toMatch(/\[template\.md\]\nT$/u);
    expect(warnings.map(({ details }) => (details as { folder: string }).folder)).toEqual([
      'linked',
      'loop',
      'out',
      'template',
    ]);
  });

  it('is one whose SKILL.md is a pipe, without waiting for a writer', async () => {
    await mkdir(join(root, 'pipe'));
    execFileSync('mkfifo', [join(root, 'pipe', 'SKILL.md')]);
    expect(namesOf(await started({ 'z/SKILL.md': '' }))).toEqual(['z']);
    expect(warnings).toMatchObject([{ details: { folder: 'pipe' } }]);
  });

  it('is one beyond the 500th', async () => {
    const files = Array.from({ length: 501 }, (_, at) => [`s${String(at).padStart(3, '0')}/SKILL.md`, '']);
    const manager = await started(Object.fromEntries(files) as Files);
    expect(manager.skills).toHaveLength(500);
    expect(warnings).toMatchObject([{ details: { folder: 's500' } }]);
  });
});

describe('SkillManager: the folder', () => {
  it('fails the start if it is missing or no folder, and may be tried again', async () => {
    await writeFile(join(base, 'file'), '');
    const missing = new SkillManager(join(base, 'later'), { logger });
    await expect(missing.start()).rejects.toThrow(SkillsFolderError);
    await expect(missing.start()).rejects.toThrow(/later" does not exist$/u);
    await expect(new SkillManager(join(base, 'file')).start()).rejects.toThrow(/is no folder$/u);
    await mkdir(join(base, 'later', 'a'), { recursive: true });
    await writeFile(join(base, 'later', 'a', 'SKILL.md'), '');
    await missing.start();
    expect(namesOf(missing)).toEqual(['a']);
  });

  it('may be a link itself', async () => {
    await write({ 'a/SKILL.md': '' });
    await symlink(root, join(base, 'link'));
    const manager = new SkillManager(join(base, 'link'));
    await manager.start();
    expect(manager.skills[0]?.location).toBe(join(root, 'a', 'SKILL.md'));
  });
});
