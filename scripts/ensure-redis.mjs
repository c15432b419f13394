#!/usr/bin/env node
/**
 * Prints the path of a redis-server (7 or later) that can be started here, and gets one when there is none:
 * REDIS_SERVER_BIN, PATH, what an earlier run unpacked, the Debian package, the files of a Docker image.
 * Nothing is installed and no service is started: what is fetched stays below .parley/redis.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { libraryPaths, majorVersion, OLDEST_MAJOR, packageNames, wrapperScript } from './lib/redis-binary.mjs';

const folder = join(dirname(import.meta.dirname), '.parley', 'redis');
const target = join(folder, 'redis-server');
const failures = [];

const path = find();
if (path === undefined) {
  process.stderr.write(
    `There is no redis-server of version ${OLDEST_MAJOR} or later, and none could be fetched:\n` +
      failures.map((line) => `  - ${line}\n`).join('') +
      'Install one (Debian: apt-get install redis-server, macOS: brew install redis), or set REDIS_SERVER_BIN.\n',
  );
  process.exitCode = 1;
} else {
  process.stdout.write(`${path}\n`);
}

function find() {
  const given = process.env.REDIS_SERVER_BIN ?? '';
  if (given !== '') return usable(given) ? given : undefined;
  for (const place of (process.env.PATH ?? '').split(delimiter)) {
    const candidate = join(place, 'redis-server');
    if (place !== '' && existsSync(candidate) && usable(candidate)) return candidate;
  }
  if (existsSync(target) && usable(target)) return target;
  for (const [source, unpack] of [
    ['the Debian package', unpackDebian],
    ['the Docker image', unpackImage],
  ]) {
    try {
      fetchInto(unpack);
      if (usable(target)) return target;
    } catch (error) {
      failures.push(`${source}: ${reason(error)}`);
    }
  }
  return undefined;
}

/** Whether the program starts and is new enough. */
function usable(program) {
  try {
    const text = run(program, ['--version']);
    if (majorVersion(text) >= OLDEST_MAJOR) return true;
    failures.push(`${program} says ${JSON.stringify(text.split('\n', 1)[0])}`);
  } catch (error) {
    failures.push(`${program} does not start: ${reason(error)}`);
  }
  return false;
}

/** Unpacks beside what may be in use and puts the wrapper in place last, in one step. */
function fetchInto(unpack) {
  if (process.platform !== 'linux') throw new Error('only unpacked on Linux');
  mkdirSync(folder, { recursive: true });
  const fresh = mkdtempSync(join(folder, 'files-'));
  try {
    const script = wrapperScript(unpack(fresh, fresh.slice(folder.length + 1)));
    const wrapper = join(fresh, 'wrapper');
    writeFileSync(wrapper, script, { mode: 0o755 });
    renameSync(wrapper, target);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    throw error;
  }
}

function unpackDebian(fresh, name) {
  run('apt-get', ['--version']);
  // Without root the lists of packages are used as they are.
  if (process.getuid?.() === 0) run('apt-get', ['update', '-qq'], { timeout: 300_000 });
  const all = packageNames(
    run('apt-cache', [
      ...['depends', '--recurse', '--no-recommends', '--no-suggests', '--no-conflicts'],
      ...['--no-breaks', '--no-replaces', '--no-enhances', '--no-pre-depends', 'redis-tools'],
    ]),
  );
  const needed = ['redis-server', ...all.filter((one) => !installed(one))];
  run('apt-get', ['download', '-qq', ...new Set(needed)], { cwd: fresh, timeout: 300_000 });
  for (const file of readdirSync(fresh).filter((one) => one.endsWith('.deb'))) {
    run('dpkg', ['-x', file, 'root'], { cwd: fresh });
    rmSync(join(fresh, file));
  }
  const libraries = ['usr/lib', 'lib']
    .flatMap((one) => subfolders(join(fresh, 'root', one)))
    .filter((one) => /-linux-gnu[a-z]*$/u.test(one))
    .map((one) => one.slice(folder.length + 1));
  return { binary: `${name}/root/usr/bin/redis-server`, libraryFolders: libraries };
}

/** Copies the program and its libraries out of the image: a process of this machine, with an id to send signals to. */
function unpackImage(fresh, name) {
  const image = process.env.REDIS_IMAGE ?? 'redis:8.0-bookworm';
  const listed = run(
    'docker',
    [
      ...['run', '--rm', '--entrypoint', '/bin/sh', image],
      ...['-c', 'p=$(command -v redis-server) && echo "program $p" && ldd "$p"'],
    ],
    { timeout: 300_000 },
  );
  const program = /^program (\S+)$/mu.exec(listed)?.[1];
  const libraries = libraryPaths(listed);
  const loader = libraries.find((one) => /\/ld-linux[^/]*$|\/ld-musl[^/]*$/u.test(one));
  if (program === undefined || loader === undefined) throw new Error(`no redis-server in ${image}`);
  const container = run('docker', ['create', image]).trim();
  try {
    mkdirSync(join(fresh, 'lib'));
    // -L: a library's name is a link to the file with its full version.
    for (const library of libraries) run('docker', ['cp', '-L', `${container}:${library}`, join(fresh, 'lib')]);
    run('docker', ['cp', '-L', `${container}:${program}`, join(fresh, 'redis-server')]);
  } finally {
    run('docker', ['rm', '-v', container]);
  }
  return {
    binary: `${name}/redis-server`,
    libraryFolders: [`${name}/lib`],
    loader: `${name}/lib/${loader.slice(loader.lastIndexOf('/') + 1)}`,
  };
}

function installed(name) {
  try {
    return run('dpkg-query', ['-W', '-f=${Status}', name]).includes('install ok installed');
  } catch {
    return false;
  }
}

function subfolders(parent) {
  if (!existsSync(parent)) return [];
  return readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(parent, entry.name));
}

function run(program, args, options = {}) {
  return execFileSync(program, args, {
    encoding: 'utf8',
    timeout: 60_000,
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 16 * 1024 * 1024,
    ...options,
  });
}

/** The last line a failed program printed says most; its command line is long and says least. */
function reason(error) {
  if (error.code === 'ENOENT') return `${error.path} is not there`;
  const printed = String(error.stderr ?? '').trim();
  return printed === '' ? error.message : printed.split('\n').at(-1);
}
