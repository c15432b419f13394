import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProcess } from '@parley/testkit';

const root = join(import.meta.dirname, '..', '..');
const FOLDER = 'packages/harness/examples';
const examples = readdirSync(join(root, FOLDER)).filter((name) => name.endsWith('.ts'));

const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

/** What the lines of an example say that they print. */
function promised(source: string): string[] {
  return [...source.matchAll(/console\.log\(.*\);(?: \/\/ (.+))$/gmu)].flatMap(([, text]) => text ?? []);
}

describe('the examples of the harness', () => {
  it('are sixteen, and the README names each', () => {
    const readme = textOf('packages/harness/README.md');
    expect(examples).toHaveLength(16);
    expect(examples.filter((name) => !readme.includes(`(examples/${name})`))).toEqual([]);
  });

  it('begin with the one that the README shows', () => {
    const [, shown] = /```ts\n(\/\/ .+?)```/su.exec(textOf('packages/harness/README.md')) ?? [];
    expect(shown).toBe(textOf(`${FOLDER}/02-custom-tool.ts`));
  });

  it.each(examples)(
    '%s runs offline and prints what it says',
    async (name) => {
      const file = `${FOLDER}/${name}`;
      const example = await startProcess({
        command: process.execPath,
        args: [file],
        cwd: root,
        env: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', OPENAI_MODEL: '' },
      });
      expect(await example.exited).toEqual({ code: 0, signal: null });
      const expected = promised(textOf(file));
      if (name !== '07-event-observers.ts') expect(expected.length).toBeGreaterThan(0);
      expect(expected.filter((text) => !example.stdout.some((line) => line.endsWith(text)))).toEqual([]);
    },
    30_000,
  );
});
