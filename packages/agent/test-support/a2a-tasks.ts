import {
  Role,
  TaskState,
  type Artifact,
  type ListTasksRequest,
  type Message,
  type StreamResponse,
  type Task,
  type TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import { ServerCallContext } from '@a2a-js/sdk/server';
import { START } from './keeper-fixture.js';

/** A call of somebody, as a store sees it. */
export function callOf(
  userName: string,
  options: { tenant?: string; requestedVersion?: string } = {},
): ServerCallContext {
  return new ServerCallContext({ user: { isAuthenticated: true, userName }, requestedVersion: '1.0', ...options });
}

export function textMessage(messageId: string, text = 'hello', role = Role.ROLE_USER): Message {
  return {
    messageId,
    contextId: 'context-1',
    taskId: 'task-1',
    role,
    parts: [{ content: { $case: 'text', value: text }, mediaType: 'text/plain', filename: '', metadata: undefined }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

export function artifactOf(artifactId: string, text: string): Artifact {
  const { parts } = textMessage('any', text);
  return { artifactId, name: artifactId, description: '', parts, metadata: undefined, extensions: [] };
}

export interface TaskShape {
  readonly id?: string;
  readonly contextId?: string;
  readonly state?: TaskState;
  /** ms since the epoch. */
  readonly at?: number;
}

export function taskOf({ id = 'task-1', contextId = 'context-1', state, at = START }: TaskShape = {}): Task {
  return {
    id,
    contextId,
    status: {
      state: state ?? TaskState.TASK_STATE_WORKING,
      message: undefined,
      timestamp: new Date(at).toISOString(),
    },
    artifacts: [],
    history: [],
    metadata: undefined,
  };
}

export function withState(task: Task, state: TaskState, at = START): Task {
  return { ...task, status: { state, message: undefined, timestamp: new Date(at).toISOString() } };
}

export function listRequest(over: Partial<ListTasksRequest> = {}): ListTasksRequest {
  return {
    tenant: '',
    contextId: '',
    status: TaskState.TASK_STATE_UNSPECIFIED,
    pageToken: '',
    statusTimestampAfter: undefined,
    ...over,
  };
}

export function pushConfig(url: string, over: Partial<TaskPushNotificationConfig> = {}): TaskPushNotificationConfig {
  return { tenant: '', id: 'config-1', taskId: 'task-1', url, token: '', authentication: undefined, ...over };
}

export function statusUpdate(text: string, state = TaskState.TASK_STATE_WORKING, taskId = 'task-1'): StreamResponse {
  const message = { ...textMessage(`m-${text}`, text, Role.ROLE_AGENT), taskId };
  const status = { state, message, timestamp: new Date(START).toISOString() };
  return { payload: { $case: 'statusUpdate', value: { taskId, contextId: 'context-1', status, metadata: undefined } } };
}
