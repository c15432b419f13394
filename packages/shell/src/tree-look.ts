import { MARKER_NAME, type ProcessFamily } from './process-family.js';
import {
  descriptorTargets,
  environmentValue,
  livingProcesses,
  processEntry,
  type ProcessEntry,
} from './process-table.js';
import { sendSignal } from './send-signal.js';
import { starters } from './starters.js';

/** Living members of families; those that have none are missing. */
export type Members = ReadonlyMap<ProcessFamily, readonly ProcessEntry[]>;

export interface KnownFamilies {
  /** In any order: starts that go on at the same time are told in another one than they began. */
  readonly families: ReadonlySet<ProcessFamily>;
  readonly byLeader: Map<number, ProcessFamily>;
  readonly byId: ReadonlyMap<string, ProcessFamily>;
}

interface Remembered {
  readonly startedAt: number;
  readonly family: ProcessFamily;
}

/**
 * Finds out who belongs to which family. On Linux: who was seen to belong, carries the family's marker in its
 * environment, is in its leader's session or group, descends from a member, shares a session with one, holds one of
 * the command's pipes, or is an orphan that can come from nobody else. Elsewhere: the leader's group as a whole.
 */
export class TreeLook {
  readonly #known: KnownFamilies;
  /** By pid. What a process was seen to belong to stays true when its parent has ended. */
  #remembered = new Map<number, Remembered>();
  /** All of a family's processes left the session that this one is in. */
  readonly #ownSession = process.platform === 'linux' ? processEntry(process.pid)?.session : undefined;

  #isUncertain = false;

  constructor(known: KnownFamilies) {
    this.#known = known;
  }

  /** True if the last look could not tell an orphan from a command that is just being started. */
  get isUncertain(): boolean {
    return this.#isUncertain;
  }

  forget(): void {
    this.#remembered.clear();
  }

  members(): Members {
    this.#isUncertain = false;
    const members = new Map<ProcessFamily, ProcessEntry[]>();
    const oldest = this.#oldest();
    const table = oldest === undefined ? undefined : readTable();
    if (oldest !== undefined && table !== undefined) this.#addFromTable(members, table, oldest);
    for (const family of this.#known.families) {
      const isListed = table !== undefined && family.bornAt !== undefined;
      if (!isListed && sendSignal(-family.leader, 0)) members.set(family, [groupAsEntry(family)]);
    }
    return members;
  }

  #oldest(): number | undefined {
    let oldest: number | undefined;
    for (const { bornAt } of this.#known.families) {
      if (bornAt !== undefined && (oldest === undefined || bornAt < oldest)) oldest = bornAt;
    }
    return oldest;
  }

  #addFromTable(members: Map<ProcessFamily, ProcessEntry[]>, table: readonly ProcessEntry[], oldest: number): void {
    const candidates = table.filter((entry) => this.#canBelong(entry, oldest));
    this.#dropReusedLeaders(candidates);
    const owners = new Owners(candidates);
    for (const entry of candidates) owners.add(entry, this.#ownerOf(entry));
    owners.spread();
    this.#addHolders(owners);
    this.#addOrphans(owners);
    this.#remembered = new Map();
    for (const [entry, family] of owners.all()) {
      this.#remembered.set(entry.pid, { startedAt: entry.startedAt, family });
      const known = members.get(family);
      if (known === undefined) members.set(family, [entry]);
      else known.push(entry);
    }
  }

  /** Session 0 is one outside the container that this process lives in. Starters lead theirs. */
  #canBelong({ pid, session, startedAt }: ProcessEntry, oldest: number): boolean {
    if (starters.has(session)) return false;
    return startedAt >= oldest && pid !== process.pid && session !== 0 && session !== this.#ownSession;
  }

  /**
   * Whether it may be a command that is just being started. Until its exec it has the descriptors of its starter, so
   * seems to hold the pipes of others. A marker that is not known is that of a starter, of a command that is not known
   * yet or of one that was given up. While it is in its exec, the system shows no environment at all.
   */
  #mayBeStarting({ pid, parent }: ProcessEntry): boolean {
    const starter = starters.get(parent);
    if (starter === undefined) return false;
    if (environmentValue(pid, MARKER_NAME) !== undefined) return true;
    if (starter.startingCount > 0) this.#isUncertain = true;
    return starter.startingCount > 0;
  }

  /** A pid that was given out again, to somebody else. */
  #dropReusedLeaders(candidates: readonly ProcessEntry[]): void {
    for (const { pid, startedAt } of candidates) {
      const family = this.#known.byLeader.get(pid);
      if (family !== undefined && family.bornAt !== startedAt) this.#known.byLeader.delete(pid);
    }
  }

  #ownerOf({ pid, startedAt, session, group }: ProcessEntry): ProcessFamily | undefined {
    const remembered = this.#remembered.get(pid);
    if (remembered?.startedAt === startedAt && this.#known.families.has(remembered.family)) return remembered.family;
    const id = environmentValue(pid, MARKER_NAME);
    const marked = id === undefined ? undefined : this.#known.byId.get(id);
    if (marked !== undefined) return marked;
    const led = this.#known.byLeader.get(session) ?? this.#known.byLeader.get(group);
    return led?.bornAt !== undefined && startedAt >= led.bornAt ? led : undefined;
  }

  /** Found also when they made a session of their own, cleared their environment and lost their parent. */
  #addHolders(owners: Owners): void {
    const byPipe = new Map<string, ProcessFamily>();
    for (const family of this.#known.families) for (const pipe of family.pipes) byPipe.set(pipe, family);
    if (byPipe.size === 0) return;
    for (const entry of owners.unowned()) {
      const pipe = descriptorTargets(entry.pid).find((target) => byPipe.has(target));
      if (pipe !== undefined && !this.#mayBeStarting(entry)) owners.add(entry, byPipe.get(pipe));
    }
    owners.spread();
  }

  /**
   * One that several commands may have started is ended with the last of them: it is never the wrong one's, and it
   * never stays.
   */
  #addOrphans(owners: Owners): void {
    const families = [...this.#known.families];
    for (const entry of owners.unowned()) {
      if (entry.parent !== process.pid && !starters.has(entry.parent)) continue;
      const possible = families.filter(
        (family) => family.canInherit(entry.parent) && family.bornAt !== undefined && family.bornAt <= entry.startedAt,
      );
      // A marker that is not known is that of a command of somebody else, or of one that was given up.
      if (environmentValue(entry.pid, MARKER_NAME) !== undefined || this.#mayBeStarting(entry)) continue;
      if (possible.length === 1 || possible.every(({ ending }) => ending)) owners.add(entry, possible.at(-1));
    }
    owners.spread();
  }
}

/** Who belongs to whom, as far as a look has come. */
class Owners {
  readonly #byPid = new Map<number, ProcessFamily>();
  readonly #bySession = new Map<number, ProcessFamily>();

  constructor(private readonly candidates: readonly ProcessEntry[]) {}

  add({ pid, session }: ProcessEntry, family: ProcessFamily | undefined): void {
    if (family === undefined) return;
    this.#byPid.set(pid, family);
    if (!this.#bySession.has(session)) this.#bySession.set(session, family);
  }

  unowned(): ProcessEntry[] {
    return this.candidates.filter(({ pid }) => !this.#byPid.has(pid));
  }

  all(): [ProcessEntry, ProcessFamily][] {
    return this.candidates.flatMap((entry) => {
      const family = this.#byPid.get(entry.pid);
      return family === undefined ? [] : [[entry, family] as [ProcessEntry, ProcessFamily]];
    });
  }

  /** To descendants, and to those of the same session. */
  spread(): void {
    for (let size = -1; size !== this.#byPid.size;) {
      size = this.#byPid.size;
      for (const entry of this.unowned()) {
        this.add(entry, this.#byPid.get(entry.parent) ?? this.#bySession.get(entry.session));
      }
    }
  }
}

function groupAsEntry({ leader }: ProcessFamily): ProcessEntry {
  return { pid: leader, parent: 0, group: leader, session: leader, startedAt: 0 };
}

/** Undefined if there is no descriptor left to read it with: the groups can be signalled all the same. */
function readTable(): ProcessEntry[] | undefined {
  try {
    return livingProcesses();
  } catch {
    return undefined;
  }
}
