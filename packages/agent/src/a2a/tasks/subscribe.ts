import type { SubscribeToTaskRequest, Task } from '@a2a-js/sdk';
import { TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { within } from '@parley/service-kit';
import { checkTaskId } from './check-request.js';
import type { EngineParts } from './engine-parts.js';
import { requireStreaming } from './send-message.js';
import { isEndState, isInterruptedState, stateName, stateOf } from './task-states.js';
import { TaskStream } from './task-stream.js';
import type { TaskTurn } from './task-turn.js';
import { stopping } from './turn-failures.js';

/** How often a task that another replica works on is looked at. */
const LOOK_EVERY_MS = 1_000;

/** The task as it is, then every update; of a task that waits for its client, those of its next turn. */
export function subscribe(parts: EngineParts, { id }: SubscribeToTaskRequest, call: ServerCallContext): TaskStream {
  return new TaskStream(async (stream) => {
    requireStreaming(parts);
    checkTaskId(id);
    if (parts.running.isClosed) throw stopping();
    const task = await snapshot(parts, id, call);
    // Nothing happens between the snapshot and here, so that no event is lost and none comes twice.
    stream.send({ payload: { $case: 'task', value: task } });
    parts.channels.join(id, stream);
    endInTime(parts, id, stream);
    const isElsewhere = parts.slots.turnOf(id) === undefined && !isInterruptedState(stateOf(task));
    if (isElsewhere) followElsewhere(parts, task, call, stream);
  });
}

/** The task as it is when this resolves, however long it took to load. */
async function snapshot(parts: EngineParts, id: string, call: ServerCallContext): Promise<Task> {
  for (;;) {
    const probe = new TaskStream(() => Promise.resolve());
    parts.channels.join(id, probe);
    try {
      const stored = await parts.store.load(id, call);
      if (stored === undefined) throw new TaskNotFoundError(`Task not found: ${id}`);
      const turn = parts.slots.turnOf(id);
      if (turn !== undefined && isUntold(turn)) {
        // Stored, but not told yet: whoever joined now would be told what the snapshot says already.
        await turn.first.catch(() => undefined);
        if (isUntold(turn)) await within(parts.taskDeadlineMs, turn.settled);
        continue;
      }
      const told = turn?.task;
      // Without a turn that holds it, a turn may have come and gone while it was loaded.
      if (told === undefined && (probe.unreadCount > 0 || probe.isClosed)) continue;
      const task = told ?? stored;
      if (isEndState(stateOf(task))) throw ended(task);
      return task;
    } finally {
      probe.end();
    }
  }
}

function isUntold({ task }: TaskTurn): boolean {
  return task === undefined;
}

function ended({ id, ...task }: Task): Error {
  const state = stateName(stateOf(task));
  return new UnsupportedOperationError(`The task ${id} has ended (${state}): there is nothing to follow.`);
}

/** A turn has a deadline of its own, of which its readers are told; waiting for one has this. */
function endInTime({ slots, taskDeadlineMs }: EngineParts, id: string, stream: TaskStream): void {
  let timer: NodeJS.Timeout | undefined;
  const arm = (): void => {
    timer = setTimeout(() => {
      if (slots.turnOf(id) === undefined) stream.end();
      else arm();
    }, taskDeadlineMs);
  };
  stream.onClosed(() => {
    clearTimeout(timer);
  });
  if (!stream.isClosed) arm();
}

/** Another replica works on it, whose events are not heard here: its snapshots have to do. */
function followElsewhere({ store, logger }: EngineParts, task: Task, call: ServerCallContext, to: TaskStream): void {
  let last = changeOf(task);
  let isLooking = false;
  const look = async (): Promise<void> => {
    const now = await store.load(task.id, call);
    if (now === undefined) {
      to.end();
      return;
    }
    if (changeOf(now) === last) return;
    last = changeOf(now);
    to.send({ payload: { $case: 'task', value: now } });
    if (isEndState(stateOf(now)) || isInterruptedState(stateOf(now))) to.end();
  };
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch((error: unknown) => {
        logger.warn('a task of another replica could not be looked at', { task_id: task.id, error });
      })
      .finally(() => {
        isLooking = false;
      });
  }, LOOK_EVERY_MS);
  to.onClosed(() => {
    clearInterval(timer);
  });
}

function changeOf({ status, artifacts }: Task): string {
  const counts = artifacts.map(({ artifactId, parts }) => `${artifactId}:${String(parts.length)}`);
  return JSON.stringify([status?.state, status?.timestamp, status?.message?.messageId, counts]);
}
