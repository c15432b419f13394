import type { AgentEvent, AgentRunResult, CompactionResult, ToolCall, ToolCallResult } from '@parley/harness';
import type { Activity } from './activity.js';
import { type Block, gap, line, marked, text } from './block.js';
import { shortArguments } from './describe-call.js';
import { outcomeOf, previewOf, type ToolOutcome } from './describe-result.js';
import { neutralise, neutraliseLine } from './neutralise.js';
import { counted, duration, tokens } from './numbers.js';
import type { Tone } from './style.js';

/** Left of what the user said. */
export const USER_MARK = '> ';

const OUTCOMES: Readonly<Record<ToolOutcome, { readonly mark: string; readonly tone: Tone; readonly word: string }>> = {
  ok: { mark: '✓', tone: 'good', word: '' },
  failed: { mark: '✗', tone: 'bad', word: 'failed' },
  denied: { mark: '⊘', tone: 'warn', word: 'denied' },
  cancelled: { mark: '⊘', tone: 'warn', word: 'cancelled' },
};

/** What an event adds to the output. `activity` is how things were before it. */
export function renderEvent({ payload }: Pick<AgentEvent, 'payload'>, activity: Activity, now: number): Block[] {
  switch (payload.kind) {
    case 'agent_started':
      return renderUserText(payload.task);
    case 'agent_continued':
      return [gap, text('(continues)', 'dim')];
    case 'assistant_thinking_delta':
      return [{ type: 'stream', text: payload.delta, tone: 'dim' }];
    case 'assistant_text_delta':
      return [{ type: 'stream', text: payload.delta, tone: 'plain' }];
    case 'message_completed':
      return activity.hasStreamed ? [] : renderAssistantText(payload.message.content);
    case 'steering_applied':
      return renderUserText(payload.control.content, '(steering)');
    case 'steering_discarded':
      return [gap, text(`not applied (${payload.reason}): ${neutraliseLine(payload.control.content)}`, 'warn')];
    case 'compaction_completed':
    case 'compaction_failed':
      return [gap, renderCompaction(payload.result)];
    case 'tool_completed': {
      const since = activity.tools.find(({ call }) => call.id === payload.toolCall.id)?.since;
      return renderTool(payload.toolCall, payload.result, since === undefined ? undefined : now - since);
    }
    case 'agent_finished':
      return renderEnd(payload.result, now - activity.since);
    default:
      return [];
  }
}

/** Something that the user said, now or earlier. */
export function renderUserText(content: string, remark?: string): Block[] {
  const blocks = [gap, marked(USER_MARK, neutralise(content).replaceAll('\t', '    ').trim(), 'accent')];
  return remark === undefined ? blocks : [...blocks, text(remark, 'dim', USER_MARK.length)];
}

/** A whole answer at once. */
export function renderAssistantText(content: string | null): Block[] {
  if (content === null || content.trim() === '') return [];
  return [gap, text(neutralise(content).trimEnd())];
}

/** A call with what came of it. `elapsedMs` is undefined for a call of an earlier run. */
export function renderTool(
  call: ToolCall,
  result: Pick<ToolCallResult, 'message' | 'cancelled' | 'error' | 'control'>,
  elapsedMs?: number,
): Block[] {
  const { mark, tone, word } = OUTCOMES[outcomeOf(result)];
  const time = elapsedMs === undefined ? '' : duration(elapsedMs);
  const end = [word, time].filter((part) => part !== '').join(', ');
  return [
    gap,
    line(
      { text: `${mark} `, tone },
      { text: neutraliseLine(call.name), tone: 'bold' },
      ...(end === '' ? [] : [{ text: ` ${end}`, tone: word === '' ? ('dim' as const) : tone }]),
      { text: `  ${shortArguments(call)}` },
    ),
    ...previewOf(result.message.content).map((row) => line({ text: `  │ ${row}`, tone: 'dim' })),
  ];
}

function renderCompaction({ status, summary, error }: CompactionResult): Block {
  if (status === 'completed' && summary !== null) {
    return text(`context compacted: a summary stands for ${counted(summary.messageCount, 'message')}`, 'dim');
  }
  if (status === 'skipped') return text('context not compacted: there is nothing that could be summarised', 'dim');
  if (status === 'cancelled') return text('compaction cancelled', 'warn');
  return text(`compaction failed: ${neutraliseLine(error ?? 'no reason given')}`, 'bad');
}

function renderEnd(result: AgentRunResult, elapsedMs: number): Block[] {
  const { status, stopReason, output, turns, usage } = result;
  // A plain answer was shown while it came; what a tool or a hook gives as the output was not.
  const extra = stopReason === 'text_response' || stopReason === 'tool_rejected' ? [] : renderAssistantText(output);
  const numbers = `${counted(turns, 'turn')} · ${tokens(usage.totalTokens)} tokens · ${duration(elapsedMs)}`;
  return [...extra, ...(status === 'completed' ? [] : [gap, renderFailure(result)]), gap, text(numbers, 'dim')];
}

/** One line that says why a run did not complete. */
export function failureText({ status, stopReason, error }: AgentRunResult): string {
  if (stopReason === 'external_abort') return `aborted: ${neutraliseLine(error ?? 'no reason given')}`;
  return `${status} (${stopReason}): ${neutraliseLine(error ?? 'no reason given')}`;
}

function renderFailure(result: AgentRunResult): Block {
  return text(failureText(result), result.status === 'failed' ? 'bad' : 'warn');
}
