import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import ts from 'typescript';

/** The same rules as in eslint.config.mjs, said and read in another way: one that is switched off is noticed here. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  proto: [],
  'packages/service-kit': ['proto'],
  'packages/agent': ['proto', 'packages/service-kit'],
  'packages/shell': [],
  'packages/proxy-protocol': [],
  'packages/harness': ['packages/shell'],
  'packages/acp': ['packages/harness', 'packages/shell'],
  'packages/skills': ['proto', 'packages/service-kit', 'packages/agent', 'packages/harness', 'packages/acp'],
  'packages/cli': [
    'proto',
    'packages/service-kit',
    'packages/agent',
    'packages/harness',
    'packages/acp',
    'packages/proxy-protocol',
  ],
  'packages/testkit': ['proto', 'packages/service-kit'],
};
const SERVICES_MAY_IMPORT = [
  'proto',
  'packages/service-kit',
  'packages/agent',
  'packages/harness',
  'packages/acp',
  'packages/skills',
  'packages/shell',
  'packages/proxy-protocol',
];
const DOMAIN_MAY_IMPORT = ['semver', 're2js', 'node:crypto', 'node:buffer'];

/** What only tests import: it may use what they use, and nothing else may use it. */
const FOR_TESTS = /\.test(?:-helper)?\.ts$|\/testing\//u;

const root = join(import.meta.dirname, '..', '..');

interface Import {
  readonly file: string;
  readonly specifier: string;
}

const workspaces = [
  'proto',
  ...['packages', 'services'].flatMap((parent) => readdirSync(join(root, parent)).map((name) => `${parent}/${name}`)),
].filter((folder) => existsSync(join(root, folder, 'package.json')));

const nameToFolder = new Map(
  workspaces.map((folder) => {
    const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as { name: string };
    return [manifest.name, folder];
  }),
);

const sources = workspaces.flatMap((folder) => {
  const src = join(root, folder, 'src');
  if (!existsSync(src)) return [];
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .map((name) => relative(root, join(src, name)).split(sep).join('/'))
    .filter((name) => name.endsWith('.ts') && !FOR_TESTS.test(name));
});

const imports: readonly Import[] = sources.flatMap((file) =>
  ts
    .preProcessFile(readFileSync(join(root, file), 'utf8'), true, true)
    .importedFiles.map(({ fileName }) => ({ file, specifier: fileName })),
);

const workspaceOf = (file: string) => workspaces.find((folder) => file.startsWith(`${folder}/`)) ?? '';

/** The workspace a name such as `@parley/agent` or `@parley/agent/x` belongs to. */
function namedWorkspace(specifier: string): string | undefined {
  return [...nameToFolder].find(([name]) => specifier === name || specifier.startsWith(`${name}/`))?.[1];
}

const show = ({ file, specifier }: Import) => `${file} imports ${specifier}`;

describe('imports', () => {
  it('are found', () => {
    expect(workspaces).toEqual(expect.arrayContaining(['proto', 'packages/service-kit', 'packages/testkit']));
    expect(imports.length).toBeGreaterThan(20);
    expect(imports.some(({ specifier }) => namedWorkspace(specifier) !== undefined)).toBe(true);
  });

  it('go only to the rooms below', () => {
    const wrong = imports.filter(({ file, specifier }) => {
      const to = namedWorkspace(specifier);
      const from = workspaceOf(file);
      if (to === undefined) return false;
      const allowed = from.startsWith('services/') ? SERVICES_MAY_IMPORT : (MAY_IMPORT[from] ?? []);
      return !allowed.includes(to);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('leave a workspace by its name only', () => {
    const wrong = imports.filter(({ file, specifier }) => {
      if (!specifier.startsWith('.')) return false;
      const target = relative(root, resolve(root, dirname(file), specifier))
        .split(sep)
        .join('/');
      return !target.startsWith(`${workspaceOf(file)}/`);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('do not lead into what only tests share', () => {
    const wrong = imports.filter(({ specifier }) => /(?:^|\/)(?:testing|test-support)\//u.test(specifier));
    expect(wrong.map(show)).toEqual([]);
  });

  it('let the domain of a service see nothing else', () => {
    const wrong = imports.filter(({ file, specifier }) => {
      const domain = /^services\/[^/]+\/src\/domain\//u.exec(file)?.[0];
      if (domain === undefined) return false;
      if (!specifier.startsWith('.')) return !DOMAIN_MAY_IMPORT.includes(specifier);
      return !resolve(root, dirname(file), specifier).startsWith(join(root, domain));
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('name built-in modules with their prefix', () => {
    const wrong = imports.filter(({ specifier }) => isBuiltin(specifier) && !specifier.startsWith('node:'));
    expect(wrong.map(show)).toEqual([]);
  });

  it('are declared by the workspace that uses them', () => {
    const declared = new Map(
      workspaces.map((folder) => {
        const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
          dependencies?: Record<string, string>;
        };
        return [folder, Object.keys(manifest.dependencies ?? {})];
      }),
    );
    const wrong = imports.filter(({ file, specifier }) => {
      if (specifier.startsWith('.') || isBuiltin(specifier)) return false;
      const name = /^(?:@[^/]+\/)?[^/]+/u.exec(specifier)?.[0] ?? specifier;
      const from = workspaceOf(file);
      // Only tests use it, so what it needs is among the development dependencies of the whole.
      return from !== 'packages/testkit' && declared.get(from)?.includes(name) !== true;
    });
    expect(wrong.map(show)).toEqual([]);
  });
});
