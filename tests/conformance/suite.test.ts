import type { Check } from './checks/check.js';
import { pushing } from './checks/pushing.js';
import { sending } from './checks/sending.js';
import { streaming } from './checks/streaming.js';
import { tasks } from './checks/tasks.js';
import { voiceFor, WIRES } from './support/all-voices.js';
import { startTestAgent, type TestAgent } from './support/test-agent.js';
import type { Voice } from './support/voice.js';

const CHECKS: readonly Check[] = [...sending, ...streaming, ...tasks, ...pushing];

let agent: TestAgent;

beforeAll(async () => {
  agent = await startTestAgent();
}, 30_000);

describe.each(WIRES)('an agent over $binding $version', (wire) => {
  let voice: Voice;

  beforeAll(() => {
    voice = voiceFor(wire, agent);
  });

  afterAll(() => {
    voice.close();
  });

  for (const { name, run } of CHECKS.filter(({ where }) => where?.(wire) ?? true)) it(name, () => run(voice), 15_000);
});

describe('an agent that all of this was asked of', () => {
  it('ends by itself when it is told to', async () => {
    expect(await agent.stop()).toMatchObject({ code: 0 });
  }, 30_000);
});
