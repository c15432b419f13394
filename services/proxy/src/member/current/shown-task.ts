import { Role, TaskState, type Artifact, type Message, type Part, type Task, type TaskStatus } from '@a2a-js/sdk';
import { isJsonObject } from '@parley/proxy-protocol';
import type { Json, JsonObject, TurnEnd } from '../../domain/facts.js';
import type { TaskView } from '../../engine/index.js';
import { WRAPPED_DATA } from './sent-message.js';

const STATES: Readonly<Record<TaskView['state'], TaskState>> = {
  submitted: TaskState.TASK_STATE_SUBMITTED,
  working: TaskState.TASK_STATE_WORKING,
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  canceled: TaskState.TASK_STATE_CANCELED,
};

const ANSWER_ID = 'answer';

/** A task as A2A 1.0 shows it; of its messages the last `historyLength`, or all. */
export function shownTask(task: TaskView, historyLength?: number): Task {
  const { messages } = task;
  const history = historyLength === undefined ? messages : historyLength <= 0 ? [] : messages.slice(-historyLength);
  const artifact = shownAnswer(task);
  return {
    id: task.taskId,
    contextId: task.contextId,
    status: shownStatus(task),
    artifacts: artifact === undefined ? [] : [artifact],
    history: history.map((message) => shownMessage(message, task)),
    metadata: undefined,
  };
}

export function shownStatus(task: TaskView): TaskStatus {
  return {
    state: STATES[task.state],
    message: endMessage(task),
    timestamp: new Date(Math.floor(task.at)).toISOString(),
  };
}

/** The driver's answer as the result of the task; undefined as long as there is none. */
export function shownAnswer({ end }: TaskView): Artifact | undefined {
  if (end?.state !== 'completed') return undefined;
  const parts = end.texts.map(textPart);
  return { artifactId: ANSWER_ID, name: 'answer', description: '', parts, metadata: undefined, extensions: [] };
}

/** The same words as in 0.3; a cancelled task has none. */
function endMessage(task: TaskView): Message | undefined {
  const parts = endParts(task);
  if (parts === undefined) return undefined;
  return {
    messageId: task.statusMessageId ?? task.taskId,
    contextId: task.contextId,
    taskId: task.taskId,
    role: Role.ROLE_AGENT,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function endParts({ end, toolCallCount }: TaskView): Part[] | undefined {
  switch (end?.state) {
    case 'completed':
      return [...end.texts.map(textPart), dataPart({ usage: { tool_call_count: toolCallCount } })];
    case 'failed':
      return [textPart(end.error), dataPart(failureOf(end))];
    default:
      return undefined;
  }
}

function failureOf({ errorType, errorCode, error }: Extract<TurnEnd, { state: 'failed' }>): JsonObject {
  return { error_type: errorType, error_code: errorCode, error_message: error };
}

/** A message of the history, which is kept in the form of 0.3. */
function shownMessage(message: JsonObject, { taskId, contextId }: TaskView): Message {
  const { messageId, role, parts, metadata, extensions, referenceTaskIds } = message;
  return {
    messageId: textOf(messageId),
    contextId,
    taskId,
    role: role === 'agent' ? Role.ROLE_AGENT : Role.ROLE_USER,
    parts: listOf(parts).filter(isJsonObject).map(shownPart),
    metadata: isJsonObject(metadata) ? { ...metadata } : undefined,
    extensions: listOf(extensions).map(textOf),
    referenceTaskIds: listOf(referenceTaskIds).map(textOf),
  };
}

function shownPart(part: JsonObject): Part {
  const { kind, text, data, file, metadata: given } = part;
  const metadata = isJsonObject(given) ? { ...given } : undefined;
  if (kind === 'text') return { ...textPart(textOf(text)), metadata };
  if (!isJsonObject(file)) return shownData(data ?? null, metadata);
  const { bytes, uri, mimeType, name } = file;
  const content: Part['content'] =
    typeof bytes === 'string'
      ? { $case: 'raw', value: Buffer.from(bytes, 'base64') }
      : { $case: 'url', value: textOf(uri) };
  return { content, metadata, filename: textOf(name), mediaType: textOf(mimeType) };
}

function shownData(data: Json, metadata: JsonObject | undefined): Part {
  if (metadata?.[WRAPPED_DATA] !== true || !isJsonObject(data)) return { ...dataPart(data), metadata };
  const { [WRAPPED_DATA]: _, ...rest } = metadata;
  return { ...dataPart(data['value'] ?? null), metadata: Object.keys(rest).length === 0 ? undefined : rest };
}

function textPart(text: string): Part {
  return { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: 'text/plain' };
}

function dataPart(data: Json): Part {
  return { content: { $case: 'data', value: data }, metadata: undefined, filename: '', mediaType: 'application/json' };
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
