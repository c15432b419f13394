import { getEventListeners } from 'node:events';
import type { SubagentRequest, SubagentUpdate } from '@parley/harness';
import { setting } from '../../../agent/src/a2a/delegate/delegation.test-helper.js';
import { untilAborted, type Work } from '../../../agent/src/a2a/delegate/partners.test-helper.js';
import type { A2aSubagentOptions } from './a2a-subagent-options.js';
import { A2aSubagentProvider } from './a2a-subagent-provider.js';

/** A subject with `one` asked before all others, and a request that can be aborted. */
export async function subject(options: Partial<A2aSubagentOptions> = {}) {
  const { main, registry, partner } = await setting();
  const controller = new AbortController();
  const provider = new A2aSubagentProvider({
    agent: main,
    registryUrl: registry.url,
    errand: { capability: 'code_review@^1' },
    candidates: { prefer: ['one'] },
    releaseMs: 500,
    ...options,
  });
  const start = (more: Partial<SubagentRequest> = {}) =>
    provider.start({
      label: 'a task',
      prompt: [{ type: 'text', text: 'look' }],
      parent: { agentId: 'parent', depth: 0 },
      signal: controller.signal,
      ...more,
    });
  const listeners = () => getEventListeners(controller.signal, 'abort').length;
  return { main, registry, partner, controller, provider, start, listeners };
}

export async function readAll(updates: AsyncIterable<SubagentUpdate>): Promise<SubagentUpdate[]> {
  const all: SubagentUpdate[] = [];
  for await (const update of updates) all.push(update);
  return all;
}

/** Work that goes on until it is stopped, and says when it has begun. */
export function endless() {
  const begun = Promise.withResolvers<undefined>();
  const work: Work = ({ signal }, reporter) => {
    reporter.working('reading');
    begun.resolve(undefined);
    return untilAborted(signal);
  };
  return { work, begun: begun.promise };
}
