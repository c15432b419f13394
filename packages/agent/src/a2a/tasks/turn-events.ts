import { isDeepStrictEqual } from 'node:util';
import { TaskState, type Message, type SendMessageRequest, type StreamResponse, type Task } from '@a2a-js/sdk';
import type { AgentExecutionEvent } from '@a2a-js/sdk/server';
import { withArtifact, withStatus, withTask } from './task-changes.js';
import { isTurnEnd } from './task-states.js';

export type TaskEvent = Exclude<AgentExecutionEvent, { kind: 'message' }>;

export interface TaskOpening {
  readonly taskId: string;
  readonly contextId: string;
  readonly request: SendMessageRequest;
  /** Undefined for the first message. */
  readonly task?: Task | undefined;
}

/** The task that a message begins, or begins again. */
export function openingTask({ taskId: id, contextId, task, request }: TaskOpening, now: number): Task {
  const timestamp = new Date(now).toISOString();
  if (task !== undefined) {
    return { ...task, status: { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp } };
  }
  const status = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp };
  const history = request.message === undefined ? [] : [request.message];
  return { id, contextId, status, artifacts: [], history, metadata: undefined };
}

/** An executor that leaves the ids out, or mixes them up, tells of its own task all the same. */
export function belongingTo(
  { taskId, contextId }: { readonly taskId: string; readonly contextId: string },
  event: AgentExecutionEvent,
): AgentExecutionEvent {
  switch (event.kind) {
    case 'message':
      return { kind: 'message', data: { ...event.data, contextId } };
    case 'task':
      return { kind: 'task', data: { ...event.data, id: taskId, contextId } };
    case 'statusUpdate':
      return { kind: 'statusUpdate', data: { ...event.data, taskId, contextId } };
    case 'artifactUpdate':
      return { kind: 'artifactUpdate', data: { ...event.data, taskId, contextId } };
  }
}

export function mergeEvent(task: Task, event: TaskEvent): Task {
  switch (event.kind) {
    case 'task':
      return withTask(task, event.data);
    case 'statusUpdate':
      return withStatus(task, event.data);
    case 'artifactUpdate':
      return withArtifact(task, event.data);
  }
}

/** A task is told whole, with what is known of it besides what the executor said. */
export function itemOf(event: TaskEvent, task: Task): StreamResponse {
  switch (event.kind) {
    case 'task':
      return { payload: { $case: 'task', value: task } };
    case 'statusUpdate':
      return { payload: { $case: 'statusUpdate', value: event.data } };
    case 'artifactUpdate':
      return { payload: { $case: 'artifactUpdate', value: event.data } };
  }
}

/** The same for a reader that knows the task as it was before: a stream has one task, at its beginning. */
export function updatesOf(event: TaskEvent, task: Task, before: Task | undefined): StreamResponse[] {
  if (event.kind !== 'task') return [itemOf(event, task)];
  const { id: taskId, contextId, status, metadata } = task;
  const known = new Map(before?.artifacts.map((artifact) => [artifact.artifactId, artifact]));
  const changed = task.artifacts.filter((one) => !isDeepStrictEqual(one, known.get(one.artifactId)));
  return [
    ...changed.map((artifact): StreamResponse => {
      const value = { taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined };
      return { payload: { $case: 'artifactUpdate', value } };
    }),
    { payload: { $case: 'statusUpdate', value: { taskId, contextId, status, metadata } } },
  ];
}

export function stateAfter(event: AgentExecutionEvent): TaskState | undefined {
  return event.kind === 'task' || event.kind === 'statusUpdate' ? event.data.status?.state : undefined;
}

export function endsTurn(event: AgentExecutionEvent): boolean {
  if (event.kind === 'message') return true;
  const state = stateAfter(event);
  return state !== undefined && isTurnEnd(state);
}

export function isTask(answer: Message | Task): answer is Task {
  return 'artifacts' in answer;
}
