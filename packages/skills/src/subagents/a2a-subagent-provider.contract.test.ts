import {
  startPartner,
  untilAborted,
  type Partner,
  type Work,
} from '../../../agent/src/a2a/delegate/partners.test-helper.js';
import { setting } from '../../../agent/src/a2a/delegate/delegation.test-helper.js';
import {
  CONTRACT_ANSWER,
  CONTRACT_SCHEMA,
  CONTRACT_VALUE,
  describeSubagentProvider,
  type SubagentScenario,
} from '../../../harness/test-support/subagent-contract.js';
import { A2aSubagentProvider } from './a2a-subagent-provider.js';

const WORK: Readonly<Record<SubagentScenario, Work>> = {
  answers: (_request, reporter) => {
    reporter.working('reading');
    reporter.artifact({ artifactId: 'a', name: 'answer', parts: [{ kind: 'text', text: CONTRACT_ANSWER }] });
    return { state: 'completed', text: 'done' };
  },
  hangs: ({ signal }, reporter) => {
    reporter.working('reading');
    return untilAborted(signal);
  },
  fails: () => ({ state: 'failed', text: 'x'.repeat(10_000) }),
  refusal: () => ({ state: 'rejected', text: 'not this' }),
  structured: (_request, reporter) => {
    reporter.artifact({ artifactId: 'a', name: 'value', parts: [{ kind: 'data', data: CONTRACT_VALUE }] });
    return { state: 'completed', text: 'done' };
  },
  'max-tokens': () => ({ state: 'failed' }),
  'cannot-start': () => ({ state: 'failed' }),
};

describeSubagentProvider({
  name: 'a2a',
  // No state of a task says that its tokens were used up.
  without: ['max-tokens'],
  open: async (scenario) => {
    const { main, registry } = await setting();
    const partners: Partner[] = [];
    if (scenario !== 'cannot-start') {
      partners.push(await startPartner('one', { work: WORK[scenario], registryUrl: registry.url, required: true }));
    }
    const living = async () => {
      const counts = await Promise.all(
        partners.map(async ({ agent, engine }) => Math.max(engine.running, await agent.keeper.countLiving())),
      );
      return Math.max(main.agreements.size, ...counts);
    };
    return {
      provider: new A2aSubagentProvider({
        agent: main,
        registryUrl: registry.url,
        errand: { capability: 'code_review@^1', outputSchema: CONTRACT_SCHEMA },
      }),
      startedChildren: () => partners.reduce((sum, { work }) => sum + work.length, 0),
      liveChildren: living,
      close: async () => {
        await Promise.all([main, ...partners.map(({ agent }) => agent)].map((agent) => agent.stop()));
      },
    };
  },
});
