import type {
  Action,
  ActionResult,
  EnvServer,
  JsonObject,
  OfferedTool,
  SkillRef,
  TaskState,
  TurnEnd,
} from '../domain/facts.js';

export interface SubmitMessage {
  /** Kept as it is; made if undefined. */
  readonly contextId?: string;
  readonly messageId: string;
  /** The sender's message as it came. */
  readonly message: JsonObject;
  /** `undefined` if a part is not text: the task fails as `proxy.unsupported_part`. */
  readonly texts: readonly string[] | undefined;
  /** W3C `traceparent` of the sender. */
  readonly traceparent?: string;
}

/** A task as its sender sees it. */
export interface TaskView {
  readonly taskId: string;
  readonly contextId: string;
  readonly state: TaskState;
  /** Milliseconds since the epoch of the last change of state. */
  readonly at: number;
  readonly messages: readonly JsonObject[];
  /** Once it ended. */
  readonly end?: TurnEnd;
  /** Of the status message, once it ended. */
  readonly statusMessageId?: string;
  readonly toolCallCount: number;
}

export interface TurnView {
  readonly taskId: string;
  readonly contextId: string;
  readonly texts: readonly string[];
  readonly systemPrompt: string | null;
  readonly skills: readonly SkillRef[];
  /** Recorded calls that have not run, for a driver that comes back. */
  readonly pendingCalls: readonly {
    readonly id: string | null;
    readonly name: string;
    readonly arguments: JsonObject;
  }[];
  readonly actions: readonly { readonly actionId: string; readonly done: boolean; readonly action: Action }[];
}

export interface ActionAnswer {
  readonly done: boolean;
  readonly result?: ActionResult;
  /** Asked for with `after`: what came since, and where to go on. */
  readonly output?: { readonly stdout: string; readonly stderr: string; readonly next: number };
}

/**
 * The proxy without any wire. Whatever is refused is a `Refusal` with the status and the sentence that a client gets.
 * `signal` is the client's connection: a waiter is given up when it goes.
 */
export interface ProxyEngine {
  // The sender's side.
  /** A message id seen before in the same context gives the same task. */
  submit(message: SubmitMessage): Promise<TaskView>;
  task(taskId: string): TaskView | undefined;
  /** Every task that is remembered, in no order. */
  tasks(): Iterable<TaskView>;
  /** Resolves when its turn has opened, or it has ended without, or with how it is when the signal aborts. */
  opened(taskId: string, signal: AbortSignal): Promise<TaskView>;
  /** Resolves when the task has ended, or with how it is when the signal aborts. */
  ended(taskId: string, signal: AbortSignal): Promise<TaskView>;
  /** `ended`: it was over before. `view` once everything of it has stopped. */
  cancel(taskId: string): Promise<{ readonly outcome: 'canceled' | 'ended' | 'unknown'; readonly view?: TaskView }>;

  // The driver's side; every call but `claim` shows the token.
  /** Under an agreement, `release` frees it again. @throws Refusal 409 while another token's claim lives. */
  claim(token: string, under?: { readonly agreementId?: string }): Promise<void>;
  /** Ends the claim that was made under the agreement, if it lives; open turns stay for the next driver. */
  release(agreementId: string): Promise<void>;
  /** The claim that lives, and the agreement it was made under. */
  readonly claimed: { readonly agreementId?: string } | undefined;
  next(ask: {
    token: string;
    after: number;
    signal: AbortSignal;
  }): Promise<{ version: number; turns: readonly TurnView[] }>;
  tools(ask: { token: string; taskId: string; signal: AbortSignal }): Promise<readonly OfferedTool[]>;
  act(ask: {
    token: string;
    taskId: string;
    actionId: string;
    action: Action;
    signal: AbortSignal;
  }): Promise<ActionAnswer>;
  /** `after`: characters of output seen, for the increment. */
  result(ask: { token: string; actionId: string; after?: number; signal: AbortSignal }): Promise<ActionAnswer>;
  /** Ends one action; its result says so. */
  cancelAction(ask: { token: string; actionId: string; signal: AbortSignal }): Promise<ActionAnswer>;
  record(ask: {
    token: string;
    taskId: string;
    message: unknown;
    model: string | null;
    usage: JsonObject | null;
    signal: AbortSignal;
  }): Promise<void>;
  reply(ask: { token: string; taskId: string; texts?: readonly string[]; error?: string }): Promise<void>;

  // Configuration.
  configureAgent(changes: JsonObject): Promise<void>;
  /** Only what was ever set. */
  readonly agentConfig: JsonObject;
  /** @throws Refusal 409 for a url or name that is taken. */
  addServer(server: EnvServer): Promise<void>;
  removeServer(name: string): Promise<boolean>;
  readonly servers: readonly EnvServer[];
  /** The folder is there already. */
  addSkill(skill: SkillRef): Promise<void>;
  readonly skills: readonly SkillRef[];

  readonly hasShell: boolean;
  readonly counts: {
    readonly openTurns: number;
    readonly queuedTurns: number;
    readonly runningActions: number;
    readonly keptTasks: number;
  };
  /** Reads the fact log; before anything else. */
  start(): Promise<void>;
  /** Wakes all waiters, ends all actions and sessions, leaves turns open in the journal; within the time. */
  close(graceMs: number): Promise<void>;
}
