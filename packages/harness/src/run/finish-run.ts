import { messageOf } from '../errors.js';
import type { AgentRunResult } from '../result.js';
import type { Run } from './run.js';
import { failedWith, resultOf, type RunEnding } from './run-ending.js';

/**
 * The closing order: steering that was never applied is given back as discarded, the result goes into the journal,
 * everybody hears of it, and only then the caller gets it.
 */
export async function finishRun(run: Run, ending: RunEnding): Promise<AgentRunResult> {
  run.cancellation.seal();
  for (const control of run.steering.drain()) {
    await run.emit({ kind: 'steering_discarded', control, reason: ending.stopReason });
  }
  const result = await recordResult(run, ending);
  run.keepResult(result);
  await run.emit({ kind: 'agent_finished', result });
  return result;
}

/** The result as it is recorded; another one if it cannot be. */
async function recordResult(run: Run, ending: RunEnding): Promise<AgentRunResult> {
  const result = resultOf(ending, run);
  if (!run.ledger.isOpen) return result;
  try {
    await run.ledger.close(result);
    return result;
  } catch (error) {
    await run.ledger.release();
    if (ending.stopReason === 'persistence_failed') return result;
    return resultOf({ ...ending, ...failedWith('persistence_failed', messageOf(error)) }, run);
  }
}
