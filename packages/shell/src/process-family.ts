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
  /** Pid of the process that its orphans come to, if all of its other children are known. */
  readonly heir: number | undefined;
  /** Clock tick of the leader's start; undefined where there is no /proc. */
  readonly bornAt: number | undefined;
  /** See `ProcessFamily`. */
  readonly pipes: readonly string[];
}

/** What is known of a started process to recognise what comes from it. */
export class ProcessFamily {
  readonly leader: number;
  readonly id: string;
  readonly claimsOrphans: boolean;
  readonly heir: number | undefined;
  /** Tick of the leader's start: nothing older belongs to the family. Undefined where there is no /proc. */
  readonly bornAt: number | undefined;
  /** Our pipes as the command sees them: who holds one of them belongs to the family. Empty when they are closed. */
  pipes: readonly string[];
  /** True once it is being ended. */
  ending = false;

  constructor({ leader, id, claimsOrphans, heir, bornAt, pipes }: ProcessFamilyOptions) {
    this.leader = leader;
    this.id = id;
    this.claimsOrphans = claimsOrphans;
    this.heir = heir;
    this.bornAt = bornAt;
    this.pipes = pipes;
  }

  /** Whether a child that this process did not start may be an orphan of the family. */
  canInherit(parent: number): boolean {
    return parent === this.heir || (this.claimsOrphans && parent === process.pid);
  }
}
