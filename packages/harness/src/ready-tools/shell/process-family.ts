import { systemCode } from '../ready-tool-error.js';
import { hasInEnvironment, livingProcesses, startOf, type ProcessEntry } from './process-table.js';

/** A started process with everything that comes from it. */
export interface ProcessFamily {
  /** Pids of those who live. */
  members(): readonly number[];
  /** Signals the group as a whole, so that nobody is missed who is being born, and those who left it. */
  signal(members: readonly number[], signal: NodeJS.Signals): void;
}

/**
 * The family of a process that leads its own session. On Linux these are its session, its group, their descendants,
 * and whoever was started with `marker` in its environment: a process that made a session of its own (`setsid`) and
 * lost its parent is found by that. One that also cleared its environment is not. Elsewhere: its group.
 * To be called before the leader's exit can have been noticed.
 */
export function processFamily(leader: number, marker: string): ProcessFamily {
  const bornAt = process.platform === 'linux' ? startOf(leader) : undefined;
  return bornAt === undefined ? new GroupFamily(leader) : new LinuxFamily(leader, marker, bornAt);
}

class GroupFamily implements ProcessFamily {
  constructor(private readonly leader: number) {}

  members(): readonly number[] {
    return sendSignal(-this.leader, 0) ? [this.leader] : [];
  }

  signal(_members: readonly number[], signal: NodeJS.Signals): void {
    sendSignal(-this.leader, signal);
  }
}

class LinuxFamily implements ProcessFamily {
  #group: ReadonlySet<number> = new Set();

  constructor(
    private readonly leader: number,
    private readonly marker: string,
    /** Nothing that is older can belong to the family. */
    private readonly bornAt: number,
  ) {}

  members(): readonly number[] {
    const candidates = livingProcesses().filter(
      ({ startedAt, pid }) => startedAt >= this.bornAt && pid !== process.pid,
    );
    const family = new Set(pidsOf(candidates.filter((entry) => this.#belongs(entry))));
    this.#group = new Set(pidsOf(candidates.filter(({ group }) => group === this.leader)));
    for (let size = -1; size !== family.size;) {
      size = family.size;
      for (const { pid, parent } of candidates) if (family.has(parent)) family.add(pid);
    }
    return [...family];
  }

  signal(members: readonly number[], signal: NodeJS.Signals): void {
    if (this.#group.size > 0) sendSignal(-this.leader, signal);
    for (const pid of members) if (!this.#group.has(pid)) sendSignal(pid, signal);
  }

  #belongs({ pid, group, session }: ProcessEntry): boolean {
    return group === this.leader || session === this.leader || hasInEnvironment(pid, this.marker);
  }
}

function pidsOf(entries: readonly ProcessEntry[]): number[] {
  return entries.map(({ pid }) => pid);
}

/** False if there is nobody to get it. */
function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    // There, but somebody else's, such as a program that runs as another user.
    return systemCode(error) === 'EPERM';
  }
}
