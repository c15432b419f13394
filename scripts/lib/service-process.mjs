import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Starts a built service as a process of its own; its lines go to `onLine`.
 * `stop` ends it in order and by force after 25 s; `kill` at once.
 */
export function startService(name, env, onLine) {
  const child = spawn(
    process.execPath,
    ['--import', '../../packages/service-kit/dist/telemetry/register.js', 'dist/main.js'],
    {
      cwd: `${root}services/${name}`,
      env: { OTEL_SERVICE_NAME: name, ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own: Ctrl-C reaches the parent only, which stops its services in order.
      detached: true,
    },
  );
  const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', onLine);
  return {
    name,
    pid: child.pid,
    exited,
    kill: (signal = 'SIGKILL') => child.kill(signal),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return exited;
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), 25_000);
      const result = await exited;
      clearTimeout(force);
      return result;
    },
  };
}

/** Waits until a URL answers 200. */
export async function untilReady(url, timeoutMs = 20_000) {
  const until = Date.now() + timeoutMs;
  for (;;) {
    try {
      if ((await fetch(url, { signal: AbortSignal.timeout(1_000) })).ok) return;
    } catch {
      // not listening yet
    }
    if (Date.now() > until) throw new Error(`${url} was not ready within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
