import { TaskState, type ListTasksRequest, type Task } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { stateOf } from './task-state.js';

/** Where a task stands in a list. */
export interface TaskPosition {
  /** ms since the epoch. */
  readonly at: number;
  readonly id: string;
}

export interface TaskQuery {
  /** Undefined: of every context. */
  readonly contextId: string | undefined;
  readonly state: TaskState | undefined;
  /** Included. */
  readonly since: number | undefined;
  readonly after: TaskPosition | undefined;
  readonly limit: number;
}

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 100;

/** @throws RequestMalformedError for a page token or a time that cannot be read. */
export function parseListRequest(params: ListTasksRequest): TaskQuery {
  const { contextId, status, pageSize, pageToken, statusTimestampAfter } = params as Partial<ListTasksRequest>;
  return {
    contextId: contextId === undefined || contextId === '' ? undefined : contextId,
    state: status === TaskState.TASK_STATE_UNSPECIFIED ? undefined : status,
    since: parseTime(statusTimestampAfter),
    after: pageToken === undefined || pageToken === '' ? undefined : parsePageToken(pageToken),
    limit: Math.min(Math.max(1, Math.trunc(pageSize ?? DEFAULT_PAGE_SIZE)), MAX_PAGE_SIZE),
  };
}

/** Last changed first; of the same time, the greater id first. */
export function latestFirst(a: TaskPosition, b: TaskPosition): number {
  if (a.at !== b.at) return b.at - a.at;
  return a.id < b.id ? 1 : a.id > b.id ? -1 : 0;
}

export function matchesQuery(task: Task, at: number, { contextId, state, since }: TaskQuery): boolean {
  if (contextId !== undefined && task.contextId !== contextId) return false;
  if (state !== undefined && stateOf(task) !== state) return false;
  return since === undefined || at >= since;
}

/** Leaves out what the request does not want to see, before it is copied. */
export function trimTask(task: Task, { includeArtifacts, historyLength }: ListTasksRequest): Task {
  return {
    ...task,
    artifacts: includeArtifacts === true ? task.artifacts : [],
    history: historyLength === undefined ? task.history : historyLength <= 0 ? [] : task.history.slice(-historyLength),
  };
}

/** Names the last one of a page; the next page begins behind its place, whether or not it is still there. */
export function pageTokenOf({ at, id }: TaskPosition): string {
  return Buffer.from(`${String(at)}|${id}`).toString('base64url');
}

function parsePageToken(token: string): TaskPosition {
  const text = token.length > 1_024 ? '' : Buffer.from(token, 'base64url').toString();
  const [, at, id] = /^(-?\d{1,16})\|(.+)$/su.exec(text) ?? [];
  if (at === undefined || id === undefined) throw new RequestMalformedError('pageToken: not a token of this list');
  return { at: Number(at), id };
}

function parseTime(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new RequestMalformedError('statusTimestampAfter: not a time');
  return at;
}
