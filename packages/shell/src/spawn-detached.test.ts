import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { descriptorTargets, livingProcesses } from './process-table.js';
import { pipesOf, spawnDetached } from './spawn-detached.js';
import { lives } from './testing/command-folder.js';
import { describeOnLinux } from './testing/describe-on-linux.js';

const TRIES = 10;

/** Stands still, as on a machine that has no time for this process, until that one has ended. */
function stall(pid: number): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  while (lives(pid)) Atomics.wait(pause, 0, 0, 5);
}

describeOnLinux('the pipes of a process', () => {
  it('are those that it holds', async () => {
    const { child, pid, pipes } = await spawnDetached({
      file: '/bin/sleep',
      args: ['600'],
      cwd: '/',
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    expect(pipes).toHaveLength(2);
    expect(descriptorTargets(pid)).toEqual(expect.arrayContaining([...pipes]));
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  it('are known although it has ended before anybody could look, and left them to another', async () => {
    let known = 0;
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const child = spawn('/bin/sh', ['-c', '/bin/sleep 600 & exit'], {
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const pid = child.pid ?? 0;
      stall(pid);
      const pipes = pipesOf(child, pid);
      const left = livingProcesses().find(({ group }) => group === pid)?.pid ?? 0;
      expect(pipes).toHaveLength(2);
      // The system does not promise that the ends have numbers one after the other; it nearly always does so.
      if (pipes.every((pipe) => descriptorTargets(left).includes(pipe))) known += 1;
      process.kill(-pid, 'SIGKILL');
      await once(child, 'close');
    }
    expect(known).toBeGreaterThanOrEqual(TRIES - 2);
  });
});
