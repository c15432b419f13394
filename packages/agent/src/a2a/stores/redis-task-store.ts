import { randomUUID } from 'node:crypto';
import { Task, type ListTasksRequest, type ListTasksResponse } from '@a2a-js/sdk';
import { resolveUserScope, type OwnerResolver, type ServerCallContext } from '@a2a-js/sdk/server';
import { storeUnavailable } from '@parley/service-kit';
import type { Redis } from 'ioredis';
import { runScript } from '../../agreements/redis-script.js';
import { DEFAULT_KEEP_WAITING_MS, type AgentTaskStore, type TaskStoreBounds } from './agent-task-store.js';
import { asInterrupted } from './interrupted.js';
import { joinChanges } from './join-changes.js';
import { pageTokenOf, parseListRequest, trimTask, type TaskQuery } from './list-tasks.js';
import { startReplicaSign, type ReplicaSign } from './replica-sign.js';
import { hashed, scopeOf } from './scope.js';
import { taskChanged, taskEnded, taskStoreFull } from './task-errors.js';
import { memberOf, parseMember, taskKeys, type TaskKeys, type TaskMember } from './task-keys.js';
import { LIST_TASKS, PRUNE_TASKS, SAVE_TASK } from './task-scripts.js';
import { phaseOf, stateOf, updatedAt, type TaskPhase } from './task-state.js';

/** Defaults: `maxTasks` 100,000, `keepEndedMs` 86,400,000. */
export interface RedisTaskStoreOptions extends TaskStoreBounds {
  /** Made by `connectRedis` of service-kit; ended by whoever made it. */
  readonly redis: Redis;
  /** Its keys begin with `{parley-agent:<agentId>}:task`. */
  readonly agentId: string;
  /** A replica that was silent so long is dead: `failInterrupted` ends its tasks. Default 15,000. */
  readonly replicaSilenceMs?: number;
  /** Whose task it is. Default: the name of the caller. */
  readonly ownerResolver?: OwnerResolver;
  /** ms since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

/** Tasks that outlive the process and are shared by every replica of the agent. */
export function createRedisTaskStore(options: RedisTaskStoreOptions): AgentTaskStore {
  return new RedisTaskStore(options);
}

/** Longer than any task may run: what is left behind by a replica that nobody ever looks after again goes by itself. */
const RUNNING_LIFE_MS = 2_592_000_000;
const MAX_TRIES = 5;
const BATCH = 100;

/** What was stored when a task was handed out, or written by its writer. */
interface Base {
  readonly version: number;
  readonly doc: string;
}

interface Write {
  readonly member: TaskMember;
  readonly task: Task;
  readonly doc: string;
  readonly expected: number | undefined;
  readonly onlyOfDead?: boolean;
}

type SaveOutcome = 'saved' | 'conflict' | 'ended' | 'same' | 'full' | 'alive' | 'gone';

class RedisTaskStore implements AgentTaskStore {
  readonly #redis: Redis;
  readonly #keys: TaskKeys;
  readonly #bases = new WeakMap<Task, Base>();
  readonly #lives: Readonly<Record<TaskPhase, number>>;
  readonly #maxTasks: number;
  readonly #ownerResolver: OwnerResolver;
  readonly #now: () => number;
  readonly #replicaId = randomUUID();
  readonly #sign: ReplicaSign;

  constructor(options: RedisTaskStoreOptions) {
    this.#redis = options.redis;
    this.#keys = taskKeys(options.agentId);
    this.#lives = {
      running: RUNNING_LIFE_MS,
      waiting: options.keepWaitingMs ?? DEFAULT_KEEP_WAITING_MS,
      ended: options.keepEndedMs ?? 86_400_000,
    };
    this.#maxTasks = options.maxTasks ?? 100_000;
    this.#ownerResolver = options.ownerResolver ?? resolveUserScope;
    this.#now = options.now ?? Date.now;
    this.#sign = startReplicaSign(this.#redis, this.#keys.replica(this.#replicaId), options.replicaSilenceMs ?? 15_000);
  }

  save(task: Task, context: ServerCallContext): Promise<void> {
    const scope = hashed(scopeOf(context, this.#ownerResolver));
    return reached(() => this.#save(task, { scope, context: hashed(task.contextId), taskId: task.id }));
  }

  load(taskId: string, context: ServerCallContext): Promise<Task | undefined> {
    const scope = hashed(scopeOf(context, this.#ownerResolver));
    return reached(async () => {
      const base = await this.#read(scope, taskId);
      if (base === undefined) return undefined;
      const task = parseTask(base.doc);
      this.#bases.set(task, base);
      return task;
    });
  }

  // Asynchronous so that a request that cannot be read is a rejection too.
  async list(params: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    const query = parseListRequest(params);
    const scope = hashed(scopeOf(context, this.#ownerResolver));
    return reached(() => this.#list(params, query, scope));
  }

  failInterrupted(reason: string): Promise<number> {
    return reached(async () => {
      let failed = 0;
      const members = await this.#redis.zrange(this.#keys.phases.running, '0', '-1');
      for (let from = 0; from < members.length; from += BATCH) {
        failed += await this.#failInterrupted(members.slice(from, from + BATCH), reason);
      }
      return failed;
    });
  }

  close(): Promise<void> {
    return this.#sign.takeDown();
  }

  async #save(task: Task, member: TaskMember): Promise<void> {
    const base = this.#bases.get(task);
    let joined = task;
    let expected = base?.version;
    for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
      const doc = formatTask(joined);
      const [outcome, version] = await this.#write({ member, task: joined, doc, expected });
      if (outcome === 'saved') {
        // The writer may go on with its object and save it again; what others added is not in it.
        if (joined === task) this.#bases.set(task, { version, doc });
        return;
      }
      if (outcome === 'same') return;
      if (outcome === 'ended') throw taskEnded();
      if (outcome === 'full') throw taskStoreFull();
      const stored = await this.#read(member.scope, member.taskId);
      expected = stored?.version;
      joined =
        base === undefined || stored === undefined
          ? task
          : joinChanges(parseTask(base.doc), task, parseTask(stored.doc));
    }
    throw taskChanged();
  }

  async #write({ member, task, doc, expected, onlyOfDead }: Write): Promise<[SaveOutcome, number]> {
    const { scope, context, taskId } = member;
    const { phases, ...keys } = this.#keys;
    const now = this.#now();
    const phase = phaseOf(task);
    const state = stateOf(task);
    return (await runScript(
      this.#redis,
      SAVE_TASK,
      [
        keys.task(scope, taskId),
        keys.index(scope),
        keys.indexOfState(scope, state),
        keys.indexOfContext(scope, context),
        phases.running,
        phases.waiting,
        phases.ended,
        keys.replica(this.#replicaId),
      ],
      [
        expected ?? '',
        doc,
        state,
        phase,
        updatedAt(task, now),
        memberOf(member),
        taskId,
        now,
        this.#lives[phase],
        this.#maxTasks,
        keys.taskPrefix,
        keys.indexPrefix,
        this.#replicaId,
        this.#sign.lifeMs ?? '',
        onlyOfDead === true ? keys.replicaPrefix : '',
      ],
    )) as [SaveOutcome, number];
  }

  async #list(params: ListTasksRequest, query: TaskQuery, scope: string): Promise<ListTasksResponse> {
    const { phases, ...keys } = this.#keys;
    const [totalSize, more, ...found] = (await runScript(
      this.#redis,
      LIST_TASKS,
      [keys.index(scope), phases.running, phases.waiting, phases.ended],
      [
        keys.taskPrefix,
        keys.indexPrefix,
        scope,
        this.#now(),
        query.contextId === undefined ? '' : hashed(query.contextId),
        query.state ?? '',
        query.since ?? '-inf',
        query.after?.at ?? '+inf',
        query.after?.id ?? '',
        query.limit,
      ],
    )) as [number, number, ...string[]];
    const ids = found.filter((_, index) => index % 2 === 0);
    const docs = await Promise.all(ids.map((id) => this.#read(scope, id)));
    const tasks = docs.filter((doc) => doc !== undefined).map(({ doc }) => trimTask(parseTask(doc), params));
    const gone = ids.filter((_, index) => docs[index] === undefined);
    if (gone.length > 0) await this.#prune(gone.map((taskId) => ({ scope, context: contextOf(query), taskId })));
    const last = ids.at(-1);
    const nextPageToken = more === 0 || last === undefined ? '' : pageTokenOf({ at: Number(found.at(-1)), id: last });
    return { tasks, nextPageToken, pageSize: query.limit, totalSize: totalSize - gone.length };
  }

  async #failInterrupted(members: readonly string[], reason: string): Promise<number> {
    let failed = 0;
    const gone: TaskMember[] = [];
    const alive = await this.#aliveReplicas(members);
    for (const [index, text] of members.entries()) {
      if (alive[index] === true) continue;
      const member = parseMember(text);
      const stored = await this.#read(member.scope, member.taskId);
      if (stored === undefined) {
        gone.push(member);
        continue;
      }
      const task = asInterrupted(parseTask(stored.doc), reason, this.#now());
      const write = { member, task, doc: formatTask(task), expected: stored.version, onlyOfDead: true };
      const [outcome] = await this.#write(write);
      if (outcome === 'saved') failed += 1;
    }
    if (gone.length > 0) await this.#prune(gone);
    return failed;
  }

  /** Looked at first, so that the tasks of living replicas are not read whole each time. */
  async #aliveReplicas(members: readonly string[]): Promise<boolean[]> {
    const writers = await Promise.all(
      members.map((text) => {
        const { scope, taskId } = parseMember(text);
        return this.#redis.hget(this.#keys.task(scope, taskId), 'replica');
      }),
    );
    const known = [...new Set(writers.filter((writer) => writer !== null))];
    const signs = await Promise.all(known.map((writer) => this.#redis.exists(this.#keys.replica(writer))));
    const alive = new Set(known.filter((_, index) => signs[index] === 1));
    return writers.map((writer) => writer !== null && alive.has(writer));
  }

  async #read(scope: string, taskId: string): Promise<Base | undefined> {
    const [doc, version, until] = await this.#redis.hmget(this.#keys.task(scope, taskId), 'doc', 'version', 'until');
    if (doc === null || doc === undefined || Number(until) <= this.#now()) return undefined;
    return { version: Number(version), doc };
  }

  async #prune(members: readonly TaskMember[]): Promise<void> {
    const { phases, taskPrefix, indexPrefix } = this.#keys;
    await runScript(
      this.#redis,
      PRUNE_TASKS,
      [phases.running, phases.waiting, phases.ended],
      [taskPrefix, indexPrefix, ...members.map(memberOf)],
    );
  }
}

/** Of a task that is gone nobody knows the context; the one that was asked for leads to the index it was found in. */
function contextOf({ contextId }: TaskQuery): string {
  return hashed(contextId ?? '');
}

function formatTask(task: Task): string {
  return JSON.stringify(Task.toJSON(task));
}

function parseTask(doc: string): Task {
  return Task.fromJSON(JSON.parse(doc));
}

async function reached<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storeUnavailable(error);
  }
}
