import { jest } from '@jest/globals';
import {
  CONTRACT_ANSWER,
  describeSubagentProvider,
  type SubagentScenario,
} from '../../../harness/test-support/subagent-contract.js';
import { MockAgents } from '../testing/mock-agents.js';
import type { MockScript } from '../testing/mock/script.mjs';
import { expectCleanEnd } from '../testing/mocks-of-each-test.js';
import type { AcpSubagentOptions } from './index.js';

// Each of them starts programs, on a machine that may have others to do.
jest.setTimeout(30_000);

const ANSWER = { text: CONTRACT_ANSWER };

const SCRIPTS: Readonly<Record<SubagentScenario, MockScript>> = {
  answers: { prompts: [[{ thought: 'hm' }, ANSWER, { answer: 'end_turn' }]] },
  hangs: { prompts: [[{ text: 'I begin' }, { untilCancel: true }, { answer: 'cancelled' }]] },
  fails: { prompts: [[{ stderr: 'out of luck\n' }, { exit: 5 }]] },
  'max-tokens': { prompts: [[ANSWER, { answer: 'max_tokens' }]] },
  refusal: { prompts: [[ANSWER, { answer: 'refusal' }]] },
  'cannot-start': { initialize: [{ exit: 6 }] },
  structured: {},
};

function open(scenario: SubagentScenario, more: Partial<AcpSubagentOptions>) {
  const agents = new MockAgents();
  const provider = agents.provider(SCRIPTS[scenario], more);
  return {
    provider,
    startedChildren: () => agents.count('start'),
    // One that waits for its next run is no child of a run.
    liveChildren: () => agents.live().length - Math.min(agents.idle().length, more.pool?.size ?? 0),
    close: () => expectCleanEnd(agents),
  };
}

describeSubagentProvider({
  name: 'acp, a program for each run',
  open: (scenario) => open(scenario, {}),
  without: ['structured'],
});

describeSubagentProvider({
  name: 'acp, warm programs',
  open: (scenario) => open(scenario, { pool: { size: 1, idleMs: 20_000 } }),
  without: ['structured'],
});
