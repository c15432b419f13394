import { Role, TaskState, type Artifact, type Message, type Part, type StreamResponse, type Task } from '@a2a-js/sdk';
import { invalidAnswer } from '../../peer/peer-errors.js';
import type { TaskArtifact, TaskPart } from '../task-executor.js';
import type { A2aAnswer, A2aMessage, A2aTask, A2aTaskState, A2aUpdate } from './a2a-connection.js';

/** What an agent answers, checked: the protocol's library takes almost anything for a task. */

const STATES: ReadonlyMap<TaskState, A2aTaskState> = new Map([
  [TaskState.TASK_STATE_SUBMITTED, 'submitted'],
  [TaskState.TASK_STATE_WORKING, 'working'],
  [TaskState.TASK_STATE_INPUT_REQUIRED, 'input_required'],
  [TaskState.TASK_STATE_AUTH_REQUIRED, 'auth_required'],
  [TaskState.TASK_STATE_COMPLETED, 'completed'],
  [TaskState.TASK_STATE_FAILED, 'failed'],
  [TaskState.TASK_STATE_CANCELED, 'canceled'],
  [TaskState.TASK_STATE_REJECTED, 'rejected'],
]);

export function stateOf(state: TaskState | undefined): A2aTaskState {
  return (state === undefined ? undefined : STATES.get(state)) ?? 'unknown';
}

export function sdkState(state: A2aTaskState): TaskState {
  for (const [wire, own] of STATES) if (own === state) return wire;
  return TaskState.TASK_STATE_UNSPECIFIED;
}

export function answerOf(result: Message | Task): A2aAnswer {
  return 'messageId' in result
    ? { kind: 'message', message: messageOf(result) }
    : { kind: 'task', task: taskOf(result) };
}

export function updateOf({ payload }: StreamResponse): A2aUpdate {
  switch (payload?.$case) {
    case 'task':
      return { kind: 'task', task: taskOf(payload.value) };
    case 'message':
      return { kind: 'message', message: messageOf(payload.value) };
    case 'statusUpdate': {
      const { taskId, contextId, status, metadata } = payload.value;
      if (taskId === '' || status === undefined) throw invalidAnswer('a status without a task');
      const message = status.message === undefined ? undefined : messageOf(status.message);
      return { kind: 'status', taskId, contextId, state: stateOf(status.state), message, metadata: metadata ?? {} };
    }
    case 'artifactUpdate': {
      const { taskId, contextId, artifact, append, lastChunk, metadata } = payload.value;
      if (taskId === '' || artifact === undefined) throw invalidAnswer('an artifact without a task');
      const piece = { ...artifactOf(artifact), append, lastChunk };
      return { kind: 'artifact', taskId, contextId, artifact: piece, metadata: metadata ?? {} };
    }
    case undefined:
      throw invalidAnswer('an event without content');
  }
}

export function taskOf(task: Task): A2aTask {
  if (task.id === '') throw invalidAnswer('a task without an id');
  if (task.status === undefined) throw invalidAnswer('a task without a status');
  const { state, message, timestamp } = task.status;
  return {
    taskId: task.id,
    contextId: task.contextId,
    state: stateOf(state),
    message: message === undefined ? undefined : messageOf(message),
    artifacts: task.artifacts.map(artifactOf),
    history: task.history.map(messageOf),
    metadata: task.metadata ?? {},
    timestamp,
  };
}

export function messageOf(message: Message): A2aMessage {
  return {
    messageId: message.messageId,
    role: message.role === Role.ROLE_USER ? 'user' : 'agent',
    contextId: message.contextId,
    taskId: message.taskId,
    parts: partsOf(message.parts),
    metadata: message.metadata ?? {},
  };
}

export function artifactOf({ artifactId, name, description, parts }: Artifact): TaskArtifact {
  if (artifactId === '') throw invalidAnswer('an artifact without an id');
  return { artifactId, name, ...(description === '' ? {} : { description }), parts: partsOf(parts) };
}

/** A part of a kind that this version does not know is left out. */
function partsOf(parts: readonly Part[]): TaskPart[] {
  return parts.flatMap((part) => partOf(part) ?? []);
}

function partOf({ content, filename, mediaType }: Part): TaskPart | undefined {
  const type = mediaType === '' ? {} : { mediaType };
  const name = filename === '' ? {} : { name: filename };
  switch (content?.$case) {
    case 'text':
      return { kind: 'text', text: content.value, ...type };
    case 'data':
      return { kind: 'data', data: content.value as unknown, ...type };
    case 'raw':
      return { kind: 'bytes', bytes: content.value, ...name, ...type };
    case 'url':
      return { kind: 'url', url: content.value, ...name, ...type };
    case undefined:
      return undefined;
  }
}
