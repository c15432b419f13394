/** A process of ours that starts commands, and that their orphans come to. It leads a session of its own. */
export interface Starter {
  readonly pid: number;
  /** How many commands it was asked for whose pids are not known yet. */
  readonly startingCount: number;
}

/** Those that live. Looks at the tree must take none of them, nor what they are about to start, for an orphan. */
export const starters = new Map<number, Starter>();

/** In place of a command's id in the environment of a starter: its children have it until they are a command. */
export const STARTER_MARK = 'fork-server';
