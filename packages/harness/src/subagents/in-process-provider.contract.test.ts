import { Agent, type AgentApi } from '../agent/index.js';
import { call, say, sayWith, ScriptedModel, type ScriptedStep } from '../model/scripted-model.js';
import {
  CONTRACT_ANSWER,
  CONTRACT_VALUE,
  describeSubagentProvider,
  type SubagentScenario,
} from '../../test-support/subagent-contract.js';
import { InProcessSubagentProvider } from './in-process-provider.js';

const SCRIPTS: Readonly<Record<SubagentScenario, ScriptedStep>> = {
  answers: say(CONTRACT_ANSWER),
  hangs: () => new Promise<never>(() => undefined),
  fails: new Error('x'.repeat(10_000)),
  'max-tokens': sayWith({ finishReason: 'length' }, 'cut'),
  refusal: sayWith({ finishReason: 'content_filter' }, 'no'),
  'cannot-start': say('never'),
  structured: say(null, call('c1', 'submit_result', CONTRACT_VALUE)),
};

describeSubagentProvider({
  name: 'in-process',
  open: (scenario) => {
    const agents: AgentApi[] = [];
    let gone = 0;
    const broken = { tools: [], start: () => Promise.reject(new Error('no')), call: () => Promise.resolve() };
    const provider = new InProcessSubagentProvider({
      createAgent: (spec) => {
        const handlers = scenario === 'cannot-start' ? [broken] : [];
        const agent = new Agent(new ScriptedModel([SCRIPTS[scenario]]), spec.apply({ handlers }));
        agents.push(agent);
        const shutdown = agent.shutdown.bind(agent);
        let ended: Promise<void> | undefined;
        agent.shutdown = () => (ended ??= shutdown().finally(() => (gone += 1)));
        return agent;
      },
    });
    return {
      provider,
      startedChildren: () => agents.length,
      liveChildren: () => agents.length - gone,
      close: async () => {
        await Promise.all(agents.map((agent) => agent.shutdown()));
      },
    };
  },
});
