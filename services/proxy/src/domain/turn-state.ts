import { ExpectedCalls } from './expected-calls.js';
import type {
  Action,
  ActionEndCause,
  ActionResult,
  ExpectedCall,
  Fact,
  RecordedBlock,
  TaskState,
  TurnEnd,
  TurnFact,
} from './facts.js';

type FactOf<K extends Fact['kind']> = Extract<Fact, { kind: K }>;

export interface ActionState {
  readonly actionId: string;
  readonly action: Action;
  readonly call: ExpectedCall | undefined;
  readonly ended: { readonly cause: ActionEndCause; readonly result: ActionResult } | undefined;
}

/** One task and its turn, as its facts made it. */
export class TurnState {
  #opened: FactOf<'turn_opened'> | undefined;
  #ending: TurnEnd | undefined;
  #closed: FactOf<'turn_closed'> | undefined;
  #changedAt: number;
  #recorded = false;
  #blocks: readonly RecordedBlock[] = [];
  #expected = new ExpectedCalls();
  readonly #actions = new Map<string, ActionState>();

  constructor(readonly submitted: FactOf<'turn_submitted'>) {
    this.#changedAt = submitted.at;
  }

  get taskId(): string {
    return this.submitted.taskId;
  }

  get contextId(): string {
    return this.submitted.contextId;
  }

  get opened(): FactOf<'turn_opened'> | undefined {
    return this.#opened;
  }

  /** How it ends, once that is decided. */
  get ending(): TurnEnd | undefined {
    return this.#ending;
  }

  get closed(): FactOf<'turn_closed'> | undefined {
    return this.#closed;
  }

  /** True while a driver may do something in it. */
  get isOpen(): boolean {
    return this.#opened !== undefined && this.#ending === undefined && this.#closed === undefined;
  }

  get taskState(): TaskState {
    return this.#closed?.end.state ?? 'working';
  }

  get changedAt(): number {
    return this.#changedAt;
  }

  /** True once a model call was recorded: from then on actions are compared with it. */
  get recorded(): boolean {
    return this.#recorded;
  }

  /** Content of the last recorded message. */
  get blocks(): readonly RecordedBlock[] {
    return this.#blocks;
  }

  get expected(): ExpectedCalls {
    return this.#expected;
  }

  /** Until it closes. */
  get actions(): ReadonlyMap<string, ActionState> {
    return this.#actions;
  }

  get toolCallCount(): number {
    return this.#closed?.toolCallCount ?? this.#actions.size;
  }

  /** Facts may come twice, when a write seemed to fail and was tried again; the first end counts. */
  apply(fact: TurnFact): void {
    switch (fact.kind) {
      case 'turn_opened':
        this.#opened = fact;
        this.#changedAt = fact.at;
        break;
      case 'recorded':
        this.#recorded = true;
        this.#blocks = fact.blocks;
        this.#expected = new ExpectedCalls(fact.expected);
        break;
      case 'action_started':
        this.#start(fact);
        break;
      case 'action_ended':
        this.#end(fact);
        break;
      case 'turn_ending':
        this.#ending ??= fact.end;
        break;
      case 'turn_closed':
        this.#close(fact);
        break;
      case 'turn_submitted':
      case 'turn_forgotten':
        break;
    }
  }

  #start({ actionId, action, call }: FactOf<'action_started'>): void {
    if (this.#closed !== undefined || this.#actions.has(actionId)) return;
    if (call !== undefined) this.#expected.remove(call);
    this.#actions.set(actionId, { actionId, action, call, ended: undefined });
  }

  #end({ actionId, cause, result }: FactOf<'action_ended'>): void {
    const state = this.#actions.get(actionId);
    if (state === undefined || state.ended !== undefined) return;
    this.#actions.set(actionId, { ...state, ended: { cause, result } });
  }

  #close(fact: FactOf<'turn_closed'>): void {
    if (this.#closed !== undefined) return;
    this.#closed = fact;
    this.#ending ??= fact.end;
    this.#changedAt = fact.at;
    // What it ran is in the trajectory; here it would only take memory.
    this.#actions.clear();
    this.#blocks = [];
    this.#expected = new ExpectedCalls();
  }
}
