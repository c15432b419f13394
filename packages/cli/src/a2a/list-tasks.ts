import type { A2aConnection, A2aTask, A2aTaskState } from '@parley/agent';

/** What one request may ask for. */
const MAX_PAGE_SIZE = 100;

export interface TaskFilter {
  readonly contextId: string | undefined;
  readonly state: A2aTaskState | undefined;
  /** No more than so many. */
  readonly limit: number;
}

/** The tasks of an agent, page by page; `total` counts those that the limit left out too. */
export async function listTasks(
  connection: Pick<A2aConnection, 'listTasks'>,
  { contextId, state, limit }: TaskFilter,
  signal: AbortSignal,
): Promise<{ readonly tasks: readonly A2aTask[]; readonly total: number }> {
  const filter = { ...(contextId === undefined ? {} : { contextId }), ...(state === undefined ? {} : { state }) };
  const tasks: A2aTask[] = [];
  let total = 0;
  let pageToken: string | undefined;
  do {
    const page = await connection.listTasks(
      {
        ...filter,
        pageSize: Math.min(limit - tasks.length, MAX_PAGE_SIZE),
        historyLength: 0,
        ...(pageToken === undefined ? {} : { pageToken }),
      },
      { signal },
    );
    tasks.push(...page.tasks);
    total = page.totalSize;
    // An agent that gives the same page for ever is not believed.
    pageToken = page.nextPageToken === pageToken || page.tasks.length === 0 ? undefined : page.nextPageToken;
  } while (pageToken !== undefined && tasks.length < limit);
  return { tasks: tasks.slice(0, limit), total };
}
