import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeOnLinux } from './testing/describe-on-linux.js';
import { PLAIN_NODE } from './testing/plain-node.js';

const PROGRAM = fileURLToPath(new URL('./testing/init-program.ts', import.meta.url));

interface Report {
  readonly pid: number;
  readonly zombies: number;
  readonly stdout: string;
  readonly took: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

const NODE = [process.execPath, ...PLAIN_NODE, PROGRAM];

/** Namespaces need no privilege where users may have namespaces of their own. */
const NAMESPACE = ['--map-root-user', '--user', '--pid', '--fork', '--mount-proc'];

async function report(...command: readonly string[]): Promise<Report> {
  const privileged = process.getuid?.() === 0 ? NAMESPACE.slice(2) : NAMESPACE;
  const { stdout } = await promisify(execFile)('unshare', [...privileged, ...command], {
    env: { PATH: process.env['PATH'] },
    timeout: 20_000,
    killSignal: 'SIGKILL',
  });
  return JSON.parse(stdout) as Report;
}

const endedStates = ({ after }: Report) => after.filter((state) => state !== 'Z');

describeOnLinux('commands of a process that is PID 1', () => {
  it.each(['leave', 'claim'])(
    'leave neither zombies nor hidden orphans, which go to the fork server (%s)',
    async (claims) => {
      const result = await report(...NODE, claims, 'fork');
      expect(result).toMatchObject({ pid: 1, stdout: 'still here\n', before: ['S', 'S'], zombies: 0 });
      expect(endedStates(result)).toStrictEqual([]);
    },
    30_000,
  );

  it('and has no fork server work on with 200 orphans that nobody waits for, and hidden orphans are ended with the last who can have made them', async () => {
    const result = await report(...NODE, 'claim', 'spawn');
    expect(result).toMatchObject({ pid: 1, stdout: 'still here\n', before: ['S', 'S'] });
    // Node waits for nobody that it did not start: this is what an init is for.
    expect(result.zombies).toBeGreaterThanOrEqual(200);
    expect(result.took).toBeLessThan(1_000);
    expect(endedStates(result)).toStrictEqual([]);
  }, 30_000);

  it('and has no fork server leave hidden orphans alone if these are not to be claimed', async () => {
    const result = await report(...NODE, 'leave', 'spawn');
    expect(result).toMatchObject({ before: ['S', 'S'], after: ['S', 'S'] });
  }, 30_000);
});

describeOnLinux('commands of a process under an init', () => {
  it.each(['fork', 'spawn'])(
    'leave no zombies (%s)',
    async (how) => {
      const init = `${NODE.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')} claim ${how} & wait $!`;
      const result = await report('bash', '-c', init);
      expect(result).toMatchObject({ stdout: 'still here\n', zombies: 0 });
      expect(result.pid).toBeGreaterThan(1);
    },
    30_000,
  );
});
