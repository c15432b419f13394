// How full the window is, before each request; then a history that shortens itself.
import { Agent, say, ScriptedModel, type Compactor } from '@parley/harness';

const compactor: Compactor = {
  compact: ({ preparation }) =>
    Promise.resolve({
      content: `${preparation.messagesToSummarize.length} messages about the harbour.`,
      source: 'example',
    }),
};
const long = (word: string) => say(`${word} `.repeat(60));
const agent = new Agent(
  new ScriptedModel([long('ships'), long('cranes'), long('gulls'), say('The harbour is busy.')]),
  {
    context: {
      policy: { budget: { windowTokens: 420, reserveTokens: 60, keepRecentTokens: 120 } },
      compactor,
      auto: {},
    },
    sinks: [
      {
        emit({ payload }) {
          if (payload.kind === 'context_pressure_evaluated') {
            const { estimate, thresholdTokens, reason } = payload.decision;
            console.log(`${estimate.totalTokens} of ${thresholdTokens} tokens: ${reason}`);
          }
          if (payload.kind === 'compaction_completed') {
            console.log(`compaction: ${payload.result.status}`); // compaction: completed
          }
        },
      },
    ],
  },
);

for (const task of ['Ships?', 'Cranes?', 'Gulls?', 'In a word?']) await agent.run(task);
console.log(agent.messages.find(({ role }) => role === 'system')?.content);
await agent.shutdown();
