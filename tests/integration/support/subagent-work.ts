import type { SubagentRequest, SubagentResult, SubagentRun, SubagentUpdate } from '@parley/harness';

/** A task that nobody but the signal ends early. */
export function taskRequest(task: string, signal = new AbortController().signal): SubagentRequest {
  return {
    label: 'integration',
    prompt: [{ type: 'text', text: task }],
    parent: { agentId: 'parent', depth: 0 },
    signal,
  };
}

/** All that a run says, to its end. */
export async function finish(
  run: SubagentRun,
): Promise<{ readonly result: SubagentResult; readonly updates: readonly SubagentUpdate[] }> {
  const updates: SubagentUpdate[] = [];
  for await (const update of run.updates) updates.push(update);
  const result = await run.result;
  await run.dispose();
  return { result, updates };
}
