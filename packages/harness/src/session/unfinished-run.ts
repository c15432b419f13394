import { statusOf, type StopReason } from '../enums.js';
import type { AssistantMessage, ToolCall } from '../messages.js';
import type { ModelUsage, RunUsage } from '../model/usage.js';
import type { AgentRunResult } from '../result.js';
import { cancelledResult } from '../tools/call-results.js';
import { drafts } from './record-drafts.js';
import type { SessionRecordDraft, SessionRun, StoredSession } from './session-types.js';

/** A run that its records leave open. */
export interface UnfinishedRun {
  readonly run: SessionRun;
  /** Calls without a result, in the order in which they were made. */
  readonly unansweredCalls: readonly ToolCall[];
  readonly answers: readonly AssistantMessage[];
  /** Of its newest record. */
  readonly lastSequence: number;
}

export function unfinishedRun(session: StoredSession): UnfinishedRun | null {
  const run = session.runs.findLast(({ finished }) => !finished);
  if (run === undefined) return null;
  const calls = new Map<string, ToolCall>();
  const answers: AssistantMessage[] = [];
  let lastSequence = run.startSequence;
  for (const { runId, sequence, message } of session.entries) {
    if (runId !== run.runId) continue;
    lastSequence = Math.max(lastSequence, sequence);
    if (message.role === 'tool') calls.delete(message.toolCallId);
    if (message.role !== 'assistant') continue;
    answers.push(message);
    for (const call of message.toolCalls) calls.set(call.id, call);
  }
  return { run, unansweredCalls: [...calls.values()], answers, lastSequence };
}

/** What closes it: a result for each call that has none, since nobody knows what the tool did, then the end. */
export function closingDrafts(
  { run, unansweredCalls, answers, lastSequence }: UnfinishedRun,
  stopReason: StopReason,
  reason: string,
): readonly SessionRecordDraft[] {
  const result: AgentRunResult = {
    runId: run.runId,
    status: statusOf(stopReason),
    stopReason,
    output: null,
    turns: answers.length,
    usage: sumUsage(answers),
    error: reason,
  };
  const end = drafts.runFinished(run.runId, lastSequence + 2, result);
  if (unansweredCalls.length === 0) return [end];
  const messages = unansweredCalls.map((call) => cancelledResult(call, 'outcome_unknown', reason).message);
  return [drafts.toolMessages(run.runId, lastSequence + 1, messages), end];
}

function sumUsage(answers: readonly AssistantMessage[]): RunUsage {
  const reports = answers.map(({ usage }) => usage ?? null);
  const sum = (key: keyof ModelUsage): number | null =>
    reports.reduce<number | null>((total, usage) => {
      const tokens = usage?.[key] ?? null;
      return total === null || tokens === null ? null : total + tokens;
    }, 0);
  return {
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    totalTokens: sum('totalTokens'),
    cacheReadTokens: sum('cacheReadTokens'),
    cacheWriteTokens: sum('cacheWriteTokens'),
    reasoningTokens: sum('reasoningTokens'),
    requestCount: answers.length,
    reportedRequestCount: reports.filter((usage) => usage !== null).length,
  };
}
