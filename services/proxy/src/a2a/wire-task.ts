import type { Json, JsonObject } from '../domain/facts.js';
import type { TaskView } from '../engine/index.js';

const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'canceled']);

export function isEnded(task: TaskView): boolean {
  return ENDED.has(task.state);
}

/** A task as A2A 0.3 shows it; of its messages the last `historyLength`, where that is over 0. */
export function wireTask(task: TaskView, historyLength?: number): JsonObject {
  const { taskId, contextId, messages } = task;
  const isCut = historyLength !== undefined && historyLength > 0;
  const shown = isCut ? messages.slice(-historyLength) : messages;
  return {
    contextId,
    history: shown.map((message) => wireMessage(message, task)),
    id: taskId,
    kind: 'task',
    status: wireStatus(task),
  };
}

/** The end of a task, as a stream tells it. */
export function wireFinalUpdate(task: TaskView): JsonObject {
  return {
    contextId: task.contextId,
    final: true,
    kind: 'status-update',
    status: wireStatus(task),
    taskId: task.taskId,
  };
}

function wireStatus(task: TaskView): JsonObject {
  if (task.state === 'submitted') return { state: task.state };
  const message = statusMessage(task);
  return { ...(message !== undefined && { message }), state: task.state, timestamp: isoMicroseconds(task.at) };
}

function wireMessage(message: JsonObject, task: TaskView): JsonObject {
  const { extensions, metadata, referenceTaskIds } = message;
  return {
    contextId: task.contextId,
    ...(extensions !== undefined && { extensions }),
    kind: 'message',
    messageId: message['messageId'] ?? '',
    ...(metadata !== undefined && { metadata }),
    parts: message['parts'] ?? [],
    ...(referenceTaskIds !== undefined && { referenceTaskIds }),
    role: message['role'] ?? 'user',
    taskId: task.taskId,
  };
}

/** The driver's answer, or why there is none; a cancelled task has none. */
function statusMessage(task: TaskView): JsonObject | undefined {
  const parts = endParts(task);
  if (parts === undefined) return undefined;
  return {
    contextId: task.contextId,
    kind: 'message',
    messageId: task.statusMessageId ?? task.taskId,
    parts,
    role: 'agent',
    taskId: task.taskId,
  };
}

function endParts({ end, toolCallCount }: TaskView): Json[] | undefined {
  switch (end?.state) {
    case 'completed':
      return [...end.texts.map(textPart), dataPart({ usage: { tool_call_count: toolCallCount } })];
    case 'failed':
      return [
        textPart(end.error),
        dataPart({ error_type: end.errorType, error_code: end.errorCode, error_message: end.error }),
      ];
    default:
      return undefined;
  }
}

function textPart(text: string): JsonObject {
  return { kind: 'text', text };
}

function dataPart(data: JsonObject): JsonObject {
  return { data, kind: 'data' };
}

/** UTC with six digits of the second, `+00:00`. */
function isoMicroseconds(at: number): string {
  const whole = Math.floor(at);
  const micros = Math.min(999, Math.floor((at - whole) * 1_000));
  return `${new Date(whole).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}+00:00`;
}
