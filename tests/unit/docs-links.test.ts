import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (['node_modules', 'dist', '.git', '.parley', 'coverage'].includes(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

const files = filesBelow('.');
const documents = files.filter((file) => file.endsWith('.md'));
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
const prose = (file: string): string => textOf(file).replaceAll(/^```.*?^```/gmsu, '');

/** The names under which the headings of a document can be linked to. */
function anchors(file: string): string[] {
  return [...textOf(file).matchAll(/^#+ (.*)$/gmu)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}

function brokenLinks(file: string): string[] {
  const links = [...prose(file).matchAll(/\]\(([^)\s]+)\)/gu)].map(([, target = '']) => target);
  return links.filter((link) => {
    if (/^https?:/u.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? file : relative(root, resolve(root, dirname(file), path));
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && (statSync(join(root, target)).isDirectory() || !anchors(target).includes(anchor));
  });
}

describe('documents', () => {
  it('are found', () => {
    expect(documents).toEqual(expect.arrayContaining(['README.md', 'docs/protocol.md', 'proto/README.md']));
  });

  it.each(documents)('link to what is there: %s', (file) => {
    expect(brokenLinks(file)).toEqual([]);
  });

  it.each(documents)('name sources that are there: %s', (file) => {
    const named = [...prose(file).matchAll(/`([\w./-]+\.(?:ts|mjs|proto|conf))`/gu)].map(([, name = '']) => name);
    expect(named.filter((name) => !files.some((one) => one === name || one.endsWith(`/${name}`)))).toEqual([]);
  });
});
