import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, startProcess, watchEvents } from '@parley/testkit';
import { freePorts, START_MS, startRegistry } from './support/services.js';

const root = join(import.meta.dirname, '..', '..');
const EXAMPLE = 'packages/agent/examples/two-agents.ts';

describe('the example of the agent package', () => {
  it('is what its README shows', async () => {
    const [readme, example] = await Promise.all(
      ['packages/agent/README.md', EXAMPLE].map((file) => readFile(join(root, file), 'utf8')),
    );
    const [, shown] = /```ts\n(import .+?)```/su.exec(readme ?? '') ?? [];
    expect(shown).toBe(example);
  });

  it(
    'runs as it stands against a real registry, and leaves nothing behind',
    async () => {
      const registry = await startRegistry();
      const watch = await watchEvents(registry.url);
      const [portA, portB] = await freePorts(2);
      const example = await startProcess({
        command: process.execPath,
        args: [EXAMPLE],
        cwd: root,
        env: { REGISTRY_URL: registry.url, PORT_A: String(portA), PORT_B: String(portB) },
      });
      expect(await example.exited).toEqual({ code: 0, signal: null });
      const [, promised] = /console\.log\(.+\/\/ (.+)$/mu.exec(await readFile(join(root, EXAMPLE), 'utf8')) ?? [];
      expect(promised).toContain('{ count: 3 }');
      expect(example.stdout).toContain(promised);
      expect(example.output()).toMatch(/Handshake completed with counter$/mu);
      // The last word of a process may still be on its way to the watcher when the process is gone.
      await eventually(() => expect(watch.changes).toHaveLength(6));
      const told = watch.changes.map(({ type, agentId }) => `${type} ${agentId ?? 'agreement'}`);
      expect(told.slice(0, 2).sort()).toEqual(['registered asker', 'registered counter']);
      // The responder reports the end; the initiator may have left by then.
      expect(told.filter((one) => one.endsWith(' agreement'))).toEqual(['agreed agreement', 'ended agreement']);
      expect(told.slice(2).filter((one) => !one.endsWith(' agreement'))).toEqual(
        expect.arrayContaining(['deregistered asker', 'deregistered counter']),
      );
    },
    3 * START_MS,
  );
});
