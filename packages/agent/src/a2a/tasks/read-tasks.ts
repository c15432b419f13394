import type { GetTaskRequest, ListTasksRequest, ListTasksResponse, Task } from '@a2a-js/sdk';
import { TaskNotFoundError } from '@a2a-js/sdk/errors';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { checkHistoryLength, checkList, checkTaskId } from './check-request.js';
import type { EngineParts } from './engine-parts.js';
import { cutHistory } from './task-changes.js';

export async function getTask(
  { store, slots }: EngineParts,
  { id, historyLength }: GetTaskRequest,
  call: ServerCallContext,
): Promise<Task> {
  checkTaskId(id);
  checkHistoryLength(historyLength);
  const stored = await store.load(id, call);
  if (stored === undefined) throw new TaskNotFoundError(`Task not found: ${id}`);
  // Progress is stored a little later than it is told.
  return cutHistory(slots.turnOf(id)?.task ?? stored, historyLength);
}

/** Newest first, then by id; the store keeps the order and counts. */
export async function listTasks(
  { store, slots }: EngineParts,
  request: ListTasksRequest,
  call: ServerCallContext,
): Promise<ListTasksResponse> {
  checkList(request);
  await Promise.all(slots.turns().map((turn) => turn.flush()));
  const response = await store.list(request, call);
  const { includeArtifacts, historyLength } = request;
  return {
    ...response,
    tasks: response.tasks.map((task) => {
      const cut = cutHistory(task, historyLength);
      return includeArtifacts === true ? cut : { ...cut, artifacts: [] };
    }),
  };
}
