// What both servers do with a message is chosen by how its id begins: the least work that still is the whole protocol.
import { setTimeout as sleep } from 'node:timers/promises';
import { Role, TaskState } from '@a2a-js/sdk';
import { AgentEvent } from '@a2a-js/sdk/server';

/** Events of one stream that `many-` asks for, first and last included. */
export const STREAM_EVENTS = 100;
/** Of one stream that `held-` asks for. */
export const HELD_EVENTS = 50;
const HELD_PAUSE_MS = 60;
const HELD_AT_MOST_MS = 60_000;

const text = (value) => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: 'text/plain',
});

export class BenchExecutor {
  #held = 0;
  #waiting = [];

  async execute({ taskId, contextId, userMessage }, bus) {
    const [kind, wanted] = userMessage.messageId.split('-');
    const status = (state) => ({ state, message: undefined, timestamp: new Date().toISOString() });
    const open = (state, artifacts) => {
      const task = {
        id: taskId,
        contextId,
        status: status(state),
        artifacts,
        history: [userMessage],
        metadata: undefined,
      };
      bus.publish(AgentEvent.task(task));
    };
    const told = (artifactId, value) => {
      const artifact = {
        artifactId,
        name: 'out',
        description: '',
        parts: [text(value)],
        metadata: undefined,
        extensions: [],
      };
      return { taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined };
    };
    const state = (value) =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(value), metadata: undefined }));

    if (kind === 'message') {
      const answer = { messageId: `answer-${userMessage.messageId}`, contextId, taskId: '', role: Role.ROLE_AGENT };
      const rest = { parts: userMessage.parts, metadata: undefined, extensions: [], referenceTaskIds: [] };
      bus.publish(AgentEvent.message({ ...answer, ...rest }));
    } else if (kind === 'task') {
      open(TaskState.TASK_STATE_COMPLETED, [told('out', 'ok').artifact]);
    } else {
      open(TaskState.TASK_STATE_SUBMITTED, []);
      if (kind === 'held') await this.#untilAllAreHere(Number(wanted));
      state(TaskState.TASK_STATE_WORKING);
      const pieces = (kind === 'held' ? HELD_EVENTS : STREAM_EVENTS) - 3;
      for (let at = 0; at < pieces; at += 1) {
        if (kind === 'held') await sleep(HELD_PAUSE_MS);
        bus.publish(AgentEvent.artifactUpdate(told('out', String(at))));
      }
      state(TaskState.TASK_STATE_COMPLETED);
    }
    bus.finished();
  }

  async cancelTask(_taskId, bus) {
    bus.finished();
  }

  /** Goes on when `wanted` tasks wait here, so that all of them run at the same time. */
  async #untilAllAreHere(wanted) {
    this.#held += 1;
    if (this.#held >= wanted) {
      this.#held = 0;
      for (const go of this.#waiting.splice(0)) go();
      return;
    }
    await Promise.race([
      new Promise((resolve) => this.#waiting.push(resolve)),
      sleep(HELD_AT_MOST_MS, undefined, { ref: false }),
    ]);
  }
}
