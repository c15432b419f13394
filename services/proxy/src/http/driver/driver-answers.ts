import type { Action, ActionResult, BashResult, OfferedTool } from '../../domain/facts.js';
import type { ActionAnswer, TurnView } from '../../engine/index.js';

/** How the driver sees things; `undefined` members are left out when they are written as JSON. */

/**
 * What a driver that comes back needs is told only where there is something to tell: a fresh turn looks as it does at
 * any other proxy.
 */
export function wireTurn(turn: TurnView): object {
  return {
    task_id: turn.taskId,
    context_id: turn.contextId,
    parts: turn.texts.map((text) => ({ kind: 'text', text })),
    system_prompt: turn.systemPrompt ?? undefined,
    skills: turn.skills.map(({ name, description, path }) => ({ name, description, path })),
    pending_calls: turn.pendingCalls.length === 0 ? undefined : turn.pendingCalls,
    actions: turn.actions.length === 0 ? undefined : turn.actions.map(wireKnownAction),
  };
}

function wireKnownAction({ actionId, done, action }: TurnView['actions'][number]): object {
  return { action_id: actionId, done, action: wireAction(action) };
}

function wireAction(action: Action): object {
  const { timeoutSeconds, ...rest } = action;
  return { ...rest, timeout_seconds: timeoutSeconds };
}

export function wireTool({ name, description, inputSchema, server }: OfferedTool): object {
  return { name, description, input_schema: inputSchema, server };
}

export function wireActionAnswer({ done, result, output }: ActionAnswer): object {
  return { done, result: result === undefined ? undefined : wireResult(result), output };
}

function wireResult(result: ActionResult): object {
  if (result.kind === 'bash') return wireBashResult(result);
  return { kind: result.kind, content: result.content, is_error: result.isError };
}

/** The sizes are told only where something was left out: otherwise they can be seen. */
function wireBashResult(result: BashResult): object {
  const { truncated } = result;
  return {
    kind: result.kind,
    exit_code: result.exitCode,
    stdout: result.stdout,
    stderr: result.stderr,
    timed_out: result.timedOut,
    ...(truncated && { truncated, stdout_bytes: result.stdoutBytes, stderr_bytes: result.stderrBytes }),
  };
}
