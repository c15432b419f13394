import { TaskState, type ListTasksRequest, type ListTasksResponse } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import type { TaskView } from '../../engine/index.js';
import { shownTask } from './shown-task.js';

const DEFAULT_PAGE_SIZE = 50;

interface Place {
  readonly at: number;
  readonly taskId: string;
}

/** Tasks last changed first; of the same time, the greater id first. @throws RequestMalformedError */
export function pageOfTasks(tasks: Iterable<TaskView>, request: ListTasksRequest): ListTasksResponse {
  const { contextId, status, statusTimestampAfter, historyLength, includeArtifacts } = request;
  const since = timeOf(statusTimestampAfter);
  const found = Array.from(tasks)
    .map((task) => ({ task, shown: shownTask(task, historyLength) }))
    .filter(({ task, shown }) => {
      if (contextId !== '' && task.contextId !== contextId) return false;
      if (status !== TaskState.TASK_STATE_UNSPECIFIED && shown.status?.state !== status) return false;
      return task.at >= since;
    })
    .sort((one, other) => latestFirst(one.task, other.task));
  const after = placeOf(request.pageToken);
  const rest = after === undefined ? found : found.filter(({ task }) => latestFirst(after, task) < 0);
  const pageSize = request.pageSize ?? DEFAULT_PAGE_SIZE;
  const page = rest.slice(0, pageSize);
  const last = page.at(-1);
  return {
    tasks: page.map(({ shown }) => (includeArtifacts === true ? shown : { ...shown, artifacts: [] })),
    nextPageToken: rest.length > pageSize && last !== undefined ? tokenOf(last.task) : '',
    pageSize: page.length,
    totalSize: found.length,
  };
}

function latestFirst(one: Place, other: Place): number {
  if (one.at !== other.at) return other.at - one.at;
  return one.taskId < other.taskId ? 1 : one.taskId > other.taskId ? -1 : 0;
}

/** Names the last one of a page; the next page begins behind its place, whether or not it is still there. */
function tokenOf({ at, taskId }: Place): string {
  return Buffer.from(`${String(at)}|${taskId}`).toString('base64url');
}

function placeOf(token: string): Place | undefined {
  if (token === '') return undefined;
  const [, at, taskId] = /^([\d.]{1,32})\|(.+)$/su.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  if (at === undefined || taskId === undefined) throw new RequestMalformedError('pageToken: not a token of this list');
  return { at: Number(at), taskId };
}

function timeOf(text: string | undefined): number {
  if (text === undefined || text === '') return 0;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new RequestMalformedError('statusTimestampAfter: not a time');
  return at;
}
