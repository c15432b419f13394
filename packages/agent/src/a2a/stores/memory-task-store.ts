import type { ListTasksRequest, ListTasksResponse, Task } from '@a2a-js/sdk';
import { resolveUserScope, type OwnerResolver, type ServerCallContext } from '@a2a-js/sdk/server';
import { DEFAULT_KEEP_WAITING_MS, type AgentTaskStore, type TaskStoreBounds } from './agent-task-store.js';
import { copyTask } from './copy-task.js';
import { asInterrupted } from './interrupted.js';
import { joinChanges } from './join-changes.js';
import { latestFirst, matchesQuery, pageTokenOf, parseListRequest, trimTask } from './list-tasks.js';
import { scopeOf } from './scope.js';
import { taskEnded, taskStoreFull } from './task-errors.js';
import { phaseOf, stateOf, updatedAt, type TaskPhase } from './task-state.js';

/** Defaults: `maxTasks` 10,000, `keepEndedMs` 3,600,000. */
export interface MemoryTaskStoreOptions extends TaskStoreBounds {
  /** Whose task it is. Default: the name of the caller. */
  readonly ownerResolver?: OwnerResolver;
  /** ms since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

interface Entry {
  readonly scope: string;
  readonly id: string;
  /** Never changed, only replaced. */
  task: Task;
  phase: TaskPhase;
  /** When its status was recorded. */
  at: number;
  /** Not read from then on. */
  forgetAt: number;
}

/** Tasks of one process; gone with it. */
export function createMemoryTaskStore(options: MemoryTaskStoreOptions = {}): AgentTaskStore {
  return new MemoryTaskStore(options);
}

class MemoryTaskStore implements AgentTaskStore {
  readonly #scopes = new Map<string, Map<string, Entry>>();
  /** Each in the order in which it came into its phase. */
  readonly #phases: Readonly<Record<TaskPhase, Set<Entry>>> = {
    running: new Set(),
    waiting: new Set(),
    ended: new Set(),
  };
  /** What was stored when a task was handed out. */
  readonly #bases = new WeakMap<Task, Task>();
  readonly #maxTasks: number;
  readonly #lives: Readonly<Record<TaskPhase, number>>;
  readonly #ownerResolver: OwnerResolver;
  readonly #now: () => number;

  constructor(options: MemoryTaskStoreOptions) {
    this.#maxTasks = options.maxTasks ?? 10_000;
    this.#lives = {
      running: Number.POSITIVE_INFINITY,
      waiting: options.keepWaitingMs ?? DEFAULT_KEEP_WAITING_MS,
      ended: options.keepEndedMs ?? 3_600_000,
    };
    this.#ownerResolver = options.ownerResolver ?? resolveUserScope;
    this.#now = options.now ?? Date.now;
  }

  save(task: Task, context: ServerCallContext): Promise<void> {
    return promised(() => {
      this.#save(task, scopeOf(context, this.#ownerResolver));
    });
  }

  load(taskId: string, context: ServerCallContext): Promise<Task | undefined> {
    return promised(() => {
      this.#forgetPast();
      const entry = this.#find(scopeOf(context, this.#ownerResolver), taskId);
      return entry === undefined ? undefined : this.#handOut(entry.task);
    });
  }

  list(params: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    return promised(() => {
      const query = parseListRequest(params);
      this.#forgetPast();
      const entries = [...(this.#scopes.get(scopeOf(context, this.#ownerResolver))?.values() ?? [])];
      const matching = entries.filter(({ task, at }) => matchesQuery(task, at, query)).sort(latestFirst);
      const { after } = query;
      const rest = after === undefined ? matching : matching.filter((entry) => latestFirst(after, entry) < 0);
      const page = rest.slice(0, query.limit);
      const last = page.at(-1);
      return {
        tasks: page.map(({ task }) => copyTask(trimTask(task, params))),
        nextPageToken: last === undefined || rest.length === page.length ? '' : pageTokenOf(last),
        pageSize: query.limit,
        totalSize: matching.length,
      };
    });
  }

  failInterrupted(reason: string): Promise<number> {
    return promised(() => {
      const interrupted = [...this.#phases.running];
      for (const entry of interrupted) this.#put(entry, asInterrupted(entry.task, reason, this.#now()));
      return interrupted.length;
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #save(task: Task, scope: string): void {
    this.#forgetPast();
    const entry = this.#find(scope, task.id);
    const base = this.#bases.get(task);
    const isCurrent = entry === undefined || base === undefined || base === entry.task;
    if (entry?.phase === 'ended') {
      if (stateOf(task) !== stateOf(entry.task)) throw taskEnded();
      if (!isCurrent) return;
    }
    if (!isCurrent) {
      this.#put(entry, copyTask(joinChanges(base, task, entry.task)));
      return;
    }
    const stored = copyTask(task);
    if (entry === undefined) this.#add(scope, stored);
    else this.#put(entry, stored);
    // The writer may go on with its object and save it again.
    this.#bases.set(task, stored);
  }

  #add(scope: string, task: Task): void {
    if (this.#size >= this.#maxTasks) this.#makeRoom();
    const entry: Entry = { scope, id: task.id, task, phase: 'running', at: 0, forgetAt: 0 };
    const bucket = this.#scopes.get(scope) ?? new Map<string, Entry>();
    this.#scopes.set(scope, bucket.set(task.id, entry));
    this.#put(entry, task);
  }

  #put(entry: Entry, task: Task): void {
    const now = this.#now();
    const phase = phaseOf(task);
    // A change after the end does not make it live longer.
    const stays = phase === 'ended' && entry.phase === 'ended' && this.#phases.ended.has(entry);
    entry.task = task;
    entry.at = updatedAt(task, now);
    if (stays) return;
    this.#phases[entry.phase].delete(entry);
    entry.phase = phase;
    entry.forgetAt = now + this.#lives[phase];
    this.#phases[phase].add(entry);
  }

  #find(scope: string, taskId: string): Entry | undefined {
    return this.#scopes.get(scope)?.get(taskId);
  }

  #handOut(stored: Task): Task {
    const task = copyTask(stored);
    this.#bases.set(task, stored);
    return task;
  }

  get #size(): number {
    return this.#phases.running.size + this.#phases.waiting.size + this.#phases.ended.size;
  }

  #makeRoom(): void {
    const [oldest] = this.#phases.ended.size > 0 ? this.#phases.ended : this.#phases.waiting;
    if (oldest === undefined) throw taskStoreFull();
    this.#forget(oldest);
  }

  /** The sets are in order of time, so it stops at the first that stays. */
  #forgetPast(): void {
    const now = this.#now();
    for (const phase of ['ended', 'waiting'] as const) {
      for (const entry of this.#phases[phase]) {
        if (entry.forgetAt > now) break;
        this.#forget(entry);
      }
    }
  }

  #forget(entry: Entry): void {
    this.#phases[entry.phase].delete(entry);
    const bucket = this.#scopes.get(entry.scope);
    bucket?.delete(entry.id);
    if (bucket?.size === 0) this.#scopes.delete(entry.scope);
  }
}

function promised<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(work());
  });
}
