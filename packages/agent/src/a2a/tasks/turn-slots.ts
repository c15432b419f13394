import { UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { within } from '@parley/service-kit';
import type { TaskTurn } from './task-turn.js';

/** The right to work on a task: one at a time. */
export interface TurnSlot {
  readonly taskId: string;
  /** Absent while the turn is being opened. */
  readonly turn: TaskTurn | undefined;
  fill(turn: TaskTurn): void;
  free(): void;
}

interface Held extends TurnSlot {
  turn: TaskTurn | undefined;
  waitingCount: number;
  readonly freed: Promise<void>;
}

export interface TurnSlotsOptions {
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
}

/** Which task is being worked on by which turn; never two at once. */
export class TurnSlots {
  readonly #held = new Map<string, Held>();
  readonly #options: TurnSlotsOptions;

  constructor(options: TurnSlotsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#held.size;
  }

  turnOf(taskId: string): TaskTurn | undefined {
    return this.#held.get(taskId)?.turn;
  }

  turns(): TaskTurn[] {
    return [...this.#held.values()].flatMap(({ turn }) => (turn === undefined ? [] : [turn]));
  }

  /** For a task whose id nobody knows yet. */
  claimNew(taskId: string): TurnSlot {
    const { promise: freed, resolve } = Promise.withResolvers<undefined>();
    const slot: Held = {
      taskId,
      turn: undefined,
      waitingCount: 0,
      freed: freed.then(() => undefined),
      fill: (turn) => {
        slot.turn = turn;
      },
      free: () => {
        if (this.#held.get(taskId) === slot) this.#held.delete(taskId);
        resolve(undefined);
      },
    };
    this.#held.set(taskId, slot);
    return slot;
  }

  /**
   * Waits for a turn that has told its end but whose executor has not returned: a client answers what it was asked at
   * once.
   *
   * @throws UnsupportedOperation for a task that is being worked on.
   */
  async claim(taskId: string): Promise<TurnSlot> {
    for (;;) {
      const held = this.#held.get(taskId);
      if (held === undefined) return this.claimNew(taskId);
      const isPassing = held.turn?.isOver ?? true;
      if (!isPassing || held.waitingCount >= this.#options.maxWaiting) throw busy(taskId);
      held.waitingCount += 1;
      const isFree = await within(this.#options.maxWaitMs, held.freed);
      held.waitingCount -= 1;
      if (!isFree) throw busy(taskId);
    }
  }
}

function busy(taskId: string): Error {
  return new UnsupportedOperationError(
    `The task ${taskId} is being worked on: send the message when it asks for one, or cancel it.`,
  );
}
