import { MockAgents } from './mock-agents.js';

/** Gives each test mocks of its own. After it, none of them may live, nor have been told what is against the protocol. */
export function mocksOfEachTest(give: (agents: MockAgents) => void): void {
  let agents: MockAgents;

  beforeEach(() => {
    agents = new MockAgents();
    give(agents);
  });

  afterEach(() => expectCleanEnd(agents));
}

/** Closes mocks, of which nothing may be left. */
export async function expectCleanEnd(agents: MockAgents): Promise<void> {
  const faults = agents.faults();
  expect({ left: await agents.close(), faults }).toEqual({ left: [], faults: [] });
}
