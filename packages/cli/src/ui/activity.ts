import type { AgentEvent, ControlInput, ToolCall } from '@parley/harness';

export interface RunningTool {
  readonly call: ToolCall;
  /** When it began; later by the time in which somebody was asked about it. */
  readonly since: number;
  /** Its latest report. */
  readonly progress: string | undefined;
}

/** What is going on, as far as events tell. Never changed, only replaced. Times in milliseconds. */
export interface Activity {
  readonly isRunning: boolean;
  readonly isCompacting: boolean;
  readonly since: number;
  readonly tools: readonly RunningTool[];
  /** Steering texts that were accepted and not applied yet. */
  readonly queued: readonly Pick<ControlInput, 'inputId' | 'content'>[];
  /** True if text of the message that is being written was shown. */
  readonly hasStreamed: boolean;
}

export const noActivity: Activity = {
  isRunning: false,
  isCompacting: false,
  since: 0,
  tools: [],
  queued: [],
  hasStreamed: false,
};

/** The activity after an event. */
export function follow(activity: Activity, { payload }: Pick<AgentEvent, 'payload'>, now: number): Activity {
  switch (payload.kind) {
    case 'agent_started':
    case 'agent_continued':
      return { ...noActivity, isRunning: true, since: now, queued: activity.queued };
    case 'agent_finished':
      return { ...noActivity, queued: activity.queued };
    case 'turn_started':
      return { ...activity, hasStreamed: false };
    case 'assistant_text_delta':
      return activity.hasStreamed ? activity : { ...activity, hasStreamed: true };
    case 'steering_applied':
    case 'steering_discarded':
      return { ...activity, queued: activity.queued.filter(({ inputId }) => inputId !== payload.control.inputId) };
    case 'compaction_started':
      return { ...activity, isCompacting: true };
    case 'compaction_completed':
    case 'compaction_failed':
      return { ...activity, isCompacting: false };
    case 'tool_started':
      return { ...activity, tools: [...activity.tools, { call: payload.toolCall, since: now, progress: undefined }] };
    case 'tool_progressed':
      return withTool(activity, payload.toolCall.id, (tool) => ({ ...tool, progress: payload.update.message }));
    case 'tool_completed':
      return { ...activity, tools: activity.tools.filter(({ call }) => call.id !== payload.toolCall.id) };
    default:
      return activity;
  }
}

/** A steering text was accepted. */
export function withQueued(activity: Activity, inputId: string, content: string): Activity {
  return { ...activity, queued: [...activity.queued, { inputId, content }] };
}

/** A call waited for somebody's decision, which is no time of the tool. */
export function withWait(activity: Activity, callId: string, waitedMs: number): Activity {
  return withTool(activity, callId, (tool) => ({ ...tool, since: tool.since + waitedMs }));
}

function withTool(activity: Activity, callId: string, change: (tool: RunningTool) => RunningTool): Activity {
  return { ...activity, tools: activity.tools.map((tool) => (tool.call.id === callId ? change(tool) : tool)) };
}
