import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

const OLDEST_MAJOR = 7;

/**
 * The path of a redis-server (7 or later): `REDIS_SERVER_BIN`, else PATH, else what `node scripts/ensure-redis.mjs`
 * put into `.parley/redis`.
 * @throws Error that names what was looked at; a test without its Redis fails, it is not left out.
 */
export function findRedisServer(env: NodeJS.ProcessEnv = process.env, from: string = import.meta.dirname): string {
  const looked: string[] = [];
  for (const candidate of candidates(env, from)) {
    if (!isExecutable(candidate)) {
      looked.push(`${candidate} (not there)`);
      continue;
    }
    const version = versionOf(candidate);
    if (version >= OLDEST_MAJOR) return candidate;
    looked.push(`${candidate} (version ${String(version)})`);
  }
  throw new Error(
    `no redis-server of version ${String(OLDEST_MAJOR)} or later: run \`node scripts/ensure-redis.mjs\` once, ` +
      `or set REDIS_SERVER_BIN. Looked at: ${looked.join(', ') || 'nothing, PATH is empty'}`,
  );
}

function candidates(env: NodeJS.ProcessEnv, from: string): readonly string[] {
  const given = env.REDIS_SERVER_BIN;
  // Whoever names a program wants that one or an error.
  if (given !== undefined && given !== '') return [given];
  const onPath = (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'redis-server'))
    .filter(existsSync);
  const root = findRoot(from);
  return root === undefined ? onPath : [...onPath, join(root, '.parley', 'redis', 'redis-server')];
}

/** The folder above `from` that holds the workspace: works from the sources and from the compiled files. */
function findRoot(from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package-lock.json'))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** `Redis server v=7.0.15 sha=...` gives 7; 0 when the program does not say. */
function versionOf(path: string): number {
  try {
    const text = execFileSync(path, ['--version'], { encoding: 'utf8', timeout: 10_000 });
    return Number(/\bv=(\d+)\./u.exec(text)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
