// Processes that a mock starts and does not end.
import { spawn } from 'node:child_process';

/**
 * @param {object} [kind]
 * @param {boolean} [kind.setsid] it leads a session of its own
 * @param {boolean} [kind.orphan] the one that started it is gone
 * @param {boolean} [kind.trapTerm] it ignores SIGTERM
 * @param {boolean} [kind.holdPipes] it holds the pipes of the mock open
 * @returns {Promise<void>} when it runs
 */
export async function fork({ setsid = false, orphan = false, trapTerm = false, holdPipes = false } = {}) {
  const sleeper = `${trapTerm ? `trap '' TERM; ` : ''}exec sleep 600`;
  const text = orphan ? `(${sleeper}) & exit 0` : sleeper;
  const child = spawn('/bin/sh', ['-c', text], { detached: setsid, stdio: holdPipes ? 'inherit' : 'ignore' });
  await new Promise((resolve) => child.once(orphan ? 'exit' : 'spawn', resolve));
  child.unref();
}
