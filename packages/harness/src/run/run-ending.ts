import { statusOf, type StopReason } from '../enums.js';
import { messageOf } from '../errors.js';
import { ContextOverflowError } from '../model/model-errors.js';
import type { RunUsage } from '../model/usage.js';
import type { AgentRunResult } from '../result.js';
import { cancellationText } from './cancellation.js';
import { CompactionFailedError, RecordingFailedError } from './run-errors.js';

/** Why and with what a run ends. */
export interface RunEnding {
  readonly stopReason: StopReason;
  readonly output: string | null;
  readonly error: string | null;
  readonly partial?: string;
  readonly phase?: NonNullable<AgentRunResult['phase']>;
}

export function completedWith(
  stopReason: 'text_response' | 'tool_completion' | 'behavior_stop',
  output: string | null,
): RunEnding {
  return { stopReason, output, error: null };
}

export function failedWith(stopReason: StopReason, error: string): RunEnding {
  return { stopReason, output: null, error };
}

/** What a run that was interrupted by `error` ends with. */
export function endingOfError(error: unknown, signal: AbortSignal): RunEnding {
  // First, because a history that could not be recorded matters more than who aborted.
  if (error instanceof RecordingFailedError) return failedWith('persistence_failed', error.message);
  if (signal.aborted) return failedWith('external_abort', cancellationText(signal));
  if (error instanceof CompactionFailedError) return failedWith('compaction_failed', error.message);
  if (error instanceof ContextOverflowError) return failedWith('context_overflow', error.message);
  return failedWith('runtime_error', messageOf(error));
}

/** The result that belongs to an ending. */
export function resultOf(ending: RunEnding, run: { runId: string; turn: number; usage: RunUsage }): AgentRunResult {
  return {
    runId: run.runId,
    status: statusOf(ending.stopReason),
    stopReason: ending.stopReason,
    output: ending.output,
    turns: run.turn,
    usage: run.usage,
    error: ending.error,
    ...(ending.partial === undefined ? {} : { partial: ending.partial }),
    ...(ending.phase === undefined ? {} : { phase: ending.phase }),
  };
}
