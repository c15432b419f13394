import { descriptorTarget, processEntry } from './process-table.js';

/** Name of the variable by which the processes of a command are found again. */
export const MARKER_NAME = 'PARLEY_SHELL_CALL';

export interface ProcessFamilyOptions {
  /** Pid of a process that leads its own session. */
  readonly leader: number;
  /** Value of `MARKER_NAME` in its environment; no other command has it. */
  readonly id: string;
  /**
   * Whether children of this very process that it did not start are taken for orphans of its commands. They come to a
   * process that is PID 1 or a subreaper. Wrong where the program also starts detached processes by other means.
   */
  readonly claimsOrphans: boolean;
}

/** What is known of a started process to recognise what comes from it. */
export class ProcessFamily {
  readonly leader: number;
  readonly id: string;
  readonly claimsOrphans: boolean;
  /** Tick of the leader's start: nothing older belongs to the family. Undefined where there is no /proc. */
  readonly bornAt: number | undefined;
  /** Our pipes as the command sees them: who holds one of them belongs to the family. Empty when they are closed. */
  pipes: readonly string[];
  /** True once it is being ended. */
  ending = false;

  /** To be called before the leader's exit can have been noticed. */
  constructor({ leader, id, claimsOrphans }: ProcessFamilyOptions) {
    this.leader = leader;
    this.id = id;
    this.claimsOrphans = claimsOrphans;
    this.bornAt = process.platform === 'linux' ? processEntry(leader)?.startedAt : undefined;
    const targets = this.bornAt === undefined ? [] : [descriptorTarget(leader, 1), descriptorTarget(leader, 2)];
    this.pipes = targets.filter((target) => target?.startsWith('socket:') === true).map(String);
  }
}
