import type { A2aMessage, A2aTaskState, A2aUpdate } from '@parley/agent';

/** What is known of a task from what was told of it. */
export class TaskTrack {
  taskId: string | undefined;
  contextId = '';
  state: A2aTaskState | undefined;
  /** What the agent said to the state. */
  message: A2aMessage | undefined;
  /** The agent answered without making a task. */
  isAnswered = false;

  see(update: A2aUpdate): void {
    if (update.kind === 'message') {
      this.isAnswered = true;
      this.contextId = update.message.contextId;
      return;
    }
    const { taskId, contextId } = update.kind === 'task' ? update.task : update;
    this.taskId = taskId;
    if (contextId !== '') this.contextId = contextId;
    if (update.kind === 'artifact') return;
    const { state, message } = update.kind === 'task' ? update.task : update;
    this.state = state;
    this.message = message;
  }
}
