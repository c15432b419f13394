import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { isNewEnough, OLDEST_NODE } from './node-version.mjs';

/** The folder of the workspace. */
export const root = dirname(dirname(import.meta.dirname));

/** Our own programs first: the Node of this project, whatever the machine has. */
const toolPath = [join(root, 'node_modules', '.bin'), process.env.PATH ?? ''].join(delimiter);

/**
 * Starts the running script again with the project's own Node when this one is too old, and ends with its exit code.
 * Ends with 1 and a text when there is no newer one. Returns when this Node will do.
 */
export function useProjectNode() {
  if (isNewEnough(process.version)) return;
  const wanted = `Node ${OLDEST_NODE.join('.')} or later`;
  const own = join(root, 'node_modules', '.bin', 'node');
  const found = existsSync(own) ? spawnSync(own, ['--version'], { encoding: 'utf8' }).stdout?.trim() : undefined;
  if (found === undefined || !isNewEnough(found)) {
    const has = found === undefined ? 'there is none in node_modules' : `the one in node_modules is ${found}`;
    console.error(`${wanted} is needed; this is ${process.version} and ${has}. Run \`make install\`.`);
    process.exit(1);
  }
  const again = spawnSync(own, process.argv.slice(1), { stdio: 'inherit', env: { ...process.env, PATH: toolPath } });
  process.exit(again.status ?? 1);
}

/**
 * Runs a program of the workspace and waits for its end; what it prints goes to our own output.
 * A signal that ends us is passed on, and a run that takes longer than `timeoutMs` is ended.
 * @returns {Promise<number | null>} its exit code; null when it could not be started or a signal ended it
 */
export function run(program, args, { env = {}, timeoutMs = 600_000 } = {}) {
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, PATH: toolPath, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const pass = (signal) => child.kill(signal);
  process.on('SIGTERM', pass);
  process.on('SIGINT', pass);
  const timer = setTimeout(() => {
    console.error(`${program} ${args.join(' ')}: ended after ${timeoutMs / 1000} s`);
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), 10_000).unref();
  }, timeoutMs);
  return new Promise((resolve) => {
    const done = (code) => {
      clearTimeout(timer);
      process.off('SIGTERM', pass);
      process.off('SIGINT', pass);
      resolve(code);
    };
    child.once('error', (error) => {
      console.error(`${program}: ${error.message}`);
      done(null);
    });
    child.once('exit', done);
  });
}

/** Runs a program and gives what it prints. @throws when it fails; what it said is in the error's `stderr` */
export function read(program, args, { timeoutMs = 60_000, input } = {}) {
  const result = spawnSync(program, args, {
    cwd: root,
    env: { ...process.env, PATH: toolPath },
    encoding: 'utf8',
    timeout: timeoutMs,
    maxBuffer: 64 * 1024 * 1024,
    input: input ?? '',
  });
  if (result.error !== undefined) throw result.error;
  if (result.status !== 0) {
    const said = result.stderr.trim().split('\n').at(-1) ?? '';
    throw new Error(`${program} ${args.join(' ')}: ${said === '' ? `exit code ${result.status}` : said}`);
  }
  return result.stdout;
}
