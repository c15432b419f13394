import { Agent, defineTool, toolHandler } from '@parley/harness';
import { OfflineTurnModel } from './offline-turn-model.js';

async function answerTo(text: string, rounds: readonly string[] = []): Promise<{ output: string; calls: unknown[] }> {
  const calls: unknown[] = [];
  const tool = (name: string): ReturnType<typeof defineTool> =>
    defineTool({
      name,
      description: 'a tool',
      parameters: { type: 'object' },
      run: (args) => {
        calls.push([name, args]);
        return name === 'bash' ? '' : 'sum';
      },
    });
  const agent = new Agent(new OfflineTurnModel(), { handlers: [toolHandler(tool('bash'), tool('add'))] });
  for (const earlier of rounds) await agent.run(earlier);
  calls.length = 0;
  const { output } = await agent.run(text);
  await agent.shutdown();
  return { output: output ?? '', calls };
}

describe('the offline driver', () => {
  it('does one step after the other, tells what each gave, and that it is offline', async () => {
    const { output, calls } = await answerTo('$ true\ntool add {"a":1}\ntool nosuch {}\ntool add {');
    expect(calls).toEqual([
      ['bash', { command: 'true' }],
      ['add', { a: 1 }],
    ]);
    expect(output).toMatch(/^No language model is configured/u);
    expect(output).toContain('$ true\n(no output)');
    expect(output).toContain('add {"a":1}\nsum');
    expect(output).toContain('There is no tool nosuch for: nosuch {}');
    expect(output).toContain('The arguments are no JSON object: tool add {');
  });

  it('does in the next turn of a context only what that one asks for', async () => {
    const { calls } = await answerTo('$ second', ['$ first']);
    expect(calls).toEqual([['bash', { command: 'second' }]]);
  });

  it('does the same step twice if it is asked for twice', async () => {
    expect((await answerTo('$ x\n$ x')).calls).toHaveLength(2);
  });

  it('looks for a tool that fits where nothing is named, and says that it is offline', async () => {
    expect((await answerTo('what is the weather like?')).output).toMatch(/No language model is configured/u);
  });
});
