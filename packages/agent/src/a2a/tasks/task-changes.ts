import { isDeepStrictEqual } from 'node:util';
import {
  Role,
  type Artifact,
  type Message,
  type Task,
  type TaskArtifactUpdateEvent,
  type TaskState,
  type TaskStatusUpdateEvent,
} from '@a2a-js/sdk';
import { isEndState, isInterruptedState } from './task-states.js';

// Every change makes a new task and leaves the one before as it was: whoever has been answered keeps what was true then.

/** Progress is not kept in the history: a task that tells of every step would grow without end. */
export function withStatus(task: Task, event: TaskStatusUpdateEvent): Task {
  const { status } = event;
  if (status === undefined) return withMetadata(task, event.metadata);
  const keep = status.message !== undefined && (isEndState(status.state) || isInterruptedState(status.state));
  return {
    ...withMetadata(task, event.metadata),
    status,
    history: keep ? withMessage(task.history, status.message as Message) : task.history,
  };
}

export function withArtifact(task: Task, event: TaskArtifactUpdateEvent): Task {
  const { artifact } = event;
  if (artifact === undefined) return task;
  const at = task.artifacts.findIndex((one) => one.artifactId === artifact.artifactId);
  const before = task.artifacts[at];
  const after = before !== undefined && event.append ? appended(before, artifact) : artifact;
  const artifacts = before === undefined ? [...task.artifacts, after] : task.artifacts.with(at, after);
  return { ...withMetadata(task, event.metadata), artifacts };
}

/** A task as an executor tells it, over what is known of it: nothing that was there gets lost. */
export function withTask(known: Task, told: Task): Task {
  const merged = told.artifacts.reduce(
    (task, artifact) => withArtifact(task, artifactEvent(known, artifact)),
    withMetadata(known, told.metadata),
  );
  const ids = new Set(known.history.map(({ messageId }) => messageId));
  const more = told.history.filter(({ messageId }) => !ids.has(messageId));
  return { ...merged, history: [...known.history, ...more], status: told.status ?? known.status };
}

/** Nothing is said twice; but some clients give several messages one id, and none of them is lost. */
export function withMessage(history: Message[], message: Message): Message[] {
  const isKnown = history.some(
    (one) => one.messageId === message.messageId && isDeepStrictEqual(one.parts, message.parts),
  );
  return isKnown ? history : [...history, message];
}

function withMetadata(task: Task, metadata: Task['metadata']): Task {
  if (metadata === undefined || Object.keys(metadata).length === 0) return { ...task };
  return { ...task, metadata: { ...task.metadata, ...metadata } };
}

function artifactEvent(task: Task, artifact: Artifact): TaskArtifactUpdateEvent {
  const { id: taskId, contextId } = task;
  return { taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined };
}

function appended(before: Artifact, more: Artifact): Artifact {
  return {
    ...before,
    name: more.name === '' ? before.name : more.name,
    description: more.description === '' ? before.description : more.description,
    parts: [...before.parts, ...more.parts],
    metadata: more.metadata === undefined ? before.metadata : { ...before.metadata, ...more.metadata },
  };
}

/** @param historyLength undefined: all of it; otherwise the newest so many messages. */
export function cutHistory(task: Task, historyLength: number | undefined): Task {
  if (historyLength === undefined || task.history.length <= historyLength) return task;
  return { ...task, history: historyLength <= 0 ? [] : task.history.slice(-historyLength) };
}

export interface StatusWords {
  readonly text?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly at: number;
  readonly messageId: string;
}

/** A status update in the agent's name; a message goes with it if there is a text. */
export function statusEvent(
  of: { readonly taskId: string; readonly contextId: string },
  state: TaskState,
  words: StatusWords,
): TaskStatusUpdateEvent {
  const { taskId, contextId } = of;
  const message = words.text === undefined ? undefined : agentMessage(of, words.messageId, words.text);
  const status = { state, message, timestamp: new Date(words.at).toISOString() };
  return { taskId, contextId, status, metadata: words.metadata === undefined ? undefined : { ...words.metadata } };
}

function agentMessage(
  of: { readonly taskId: string; readonly contextId: string },
  messageId: string,
  text: string,
): Message {
  return {
    messageId,
    contextId: of.contextId,
    taskId: of.taskId,
    role: Role.ROLE_AGENT,
    parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: 'text/plain' }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}
