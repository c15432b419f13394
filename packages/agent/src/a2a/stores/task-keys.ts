import type { TaskState } from '@a2a-js/sdk';
import { agentHashTag } from '../../agreements/redis-keys.js';
import type { TaskPhase } from './task-state.js';

/**
 * Where tasks lie in Redis; one hash tag, so that a cluster keeps everything of one agent in one place. Scopes and
 * contexts are hashed names of 22 characters.
 */
export interface TaskKeys {
  /** Hash: `doc` (JSON), `version`, `state`, `phase`, `replica` (who wrote last), `until` (not read from then on). */
  task(scope: string, taskId: string): string;
  /** Sorted set: ids of a caller's tasks, by the time of their status. */
  index(scope: string): string;
  indexOfState(scope: string, state: TaskState): string;
  indexOfContext(scope: string, context: string): string;
  /** Sorted set: members as `memberOf` makes them, by the time at which they are forgotten. */
  readonly phases: Readonly<Record<TaskPhase, string>>;
  /** There while the replica is alive. */
  replica(replicaId: string): string;
  readonly taskPrefix: string;
  readonly indexPrefix: string;
  readonly replicaPrefix: string;
}

export function taskKeys(agentId: string): TaskKeys {
  const prefix = `{${agentHashTag(agentId)}}`;
  const index = (scope: string): string => `${prefix}:tasks:${scope}`;
  return {
    task: (scope, taskId) => `${prefix}:task:${scope}:${taskId}`,
    index,
    indexOfState: (scope, state) => `${index(scope)}:s${String(state)}`,
    indexOfContext: (scope, context) => `${index(scope)}:c:${context}`,
    phases: {
      running: `${prefix}:tasks-running`,
      waiting: `${prefix}:tasks-waiting`,
      ended: `${prefix}:tasks-ended`,
    },
    replica: (replicaId) => `${prefix}:task-replica:${replicaId}`,
    taskPrefix: `${prefix}:task:`,
    indexPrefix: `${prefix}:tasks:`,
    replicaPrefix: `${prefix}:task-replica:`,
  };
}

export interface TaskMember {
  readonly scope: string;
  readonly context: string;
  readonly taskId: string;
}

export function memberOf({ scope, context, taskId }: TaskMember): string {
  return `${scope}:${context}:${taskId}`;
}

export function parseMember(member: string): TaskMember {
  return { scope: member.slice(0, 22), context: member.slice(23, 45), taskId: member.slice(46) };
}
