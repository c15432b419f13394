import { readFile } from 'node:fs/promises';
import { freePort } from '@parley/testkit';
import { FakeRegistry } from '../test-support/fake-registry.js';

const { jest } = import.meta;

it('the example of the README is this file', async () => {
  const read = (name: string): Promise<string> => readFile(new URL(name, import.meta.url), 'utf8');
  expect(await read('../README.md')).toContain(`\`\`\`ts\n${await read('two-agents.ts')}\`\`\`\n`);
});

it('the example does what it says', async () => {
  const registry = await new FakeRegistry().start();
  const printed: unknown[][] = [];
  const log = jest.spyOn(console, 'log').mockImplementation((...values) => printed.push(values));
  Object.assign(process.env, {
    REGISTRY_URL: registry.url,
    PORT_A: String(await freePort()),
    PORT_B: String(await freePort()),
  });
  try {
    await import('./two-agents.js');
  } finally {
    log.mockRestore();
  }
  expect(printed).toEqual([[{ count: 3 }, { unit: 'words', limit: 1_000 }]]);
  expect(registry.agents.size).toBe(0);
});
