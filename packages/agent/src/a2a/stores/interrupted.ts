import { randomUUID } from 'node:crypto';
import { Role, TaskState, type Message, type Task } from '@a2a-js/sdk';

/** A task as it stands after whoever worked on it died. */
export function asInterrupted(task: Task, reason: string, at: number): Task {
  const message: Message = {
    messageId: randomUUID(),
    contextId: task.contextId,
    taskId: task.id,
    role: Role.ROLE_AGENT,
    parts: [{ content: { $case: 'text', value: reason }, mediaType: 'text/plain', filename: '', metadata: undefined }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
  const status = { state: TaskState.TASK_STATE_FAILED, message, timestamp: new Date(at).toISOString() };
  return { ...task, status, history: [...task.history, message] };
}
