import { jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { isRunning, until } from './mcp-fixture.test-helper.js';

// Processes start slowly on a machine that is busy.
jest.setTimeout(30_000);

const ORPHANED = `
import { spawn } from 'node:child_process';
const { ProcessGroup } = await import(process.argv[1]);
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
new ProcessGroup(child.pid);
process.stdout.write(String(child.pid));
setTimeout(() => process.exit(0), 50);
`;

describe('a process group', () => {
  it('is ended when this process ends without having stopped it', async () => {
    const url = new URL('./process-group.ts', import.meta.url).href;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', ORPHANED, url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [chunk] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(chunk.toString());
    expect(await isRunning(pid)).toBe(true);
    await once(parent, 'exit');
    await until(async () => !(await isRunning(pid)));
  });
});
