/** A JSON value; a number that a double cannot hold as it was written is a raw JSON object (`JSON.isRawJSON`). */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = Readonly<Record<string, Json>>;

export interface BashAction {
  readonly kind: 'bash';
  readonly command: string;
  /** Seconds; default 3600. */
  readonly timeoutSeconds?: number;
}

export interface ToolAction {
  readonly kind: 'tool';
  readonly server: string;
  readonly name: string;
  readonly arguments: JsonObject;
  /** Seconds over connecting and calling together; default 600. */
  readonly timeoutSeconds?: number;
}

export type Action = BashAction | ToolAction;

export interface BashResult {
  readonly kind: 'bash';
  /** Negative signal number if the shell was killed; undefined when timed out. */
  readonly exitCode?: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  /** Bytes written in all. */
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** True if the middle of a stream was left out. */
  readonly truncated: boolean;
}

export interface ToolResult {
  readonly kind: 'tool';
  /** Content blocks of MCP as they came. */
  readonly content: readonly Json[];
  readonly isError: boolean;
}

export type ActionResult = BashResult | ToolResult;

/** How an action ended: by itself (also by its own time-out), ended with its turn, on request, or lost in a crash. */
export type ActionEndCause = 'done' | 'turn_over' | 'cancelled' | 'lost';

/** A tool that a turn offers; `server` is missing for the proxy's own bash. */
export interface OfferedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonObject;
  readonly server?: string;
}

export interface EnvServer {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface SkillRef {
  readonly name: string;
  readonly description: string;
  /** Absolute path of its folder. */
  readonly path: string;
}

/** A content block of a recorded model call, as the trajectory keeps it. */
export type RecordedBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string }
  | { readonly type: 'redacted_thinking' }
  | { readonly type: 'tool_use'; readonly id: string | null; readonly name: string; readonly input: JsonObject };

export type TaskState = 'submitted' | 'working' | 'completed' | 'failed' | 'canceled';

/** How a turn ended. */
export type TurnEnd =
  | { readonly state: 'completed'; readonly texts: readonly string[] }
  | {
      readonly state: 'failed';
      /** `proxy.driver_error`, `proxy.unsupported_part`, `framework.unhandled_exception`. */
      readonly errorCode: string;
      readonly errorType: 'agent_error' | 'infra_error';
      readonly error: string;
    }
  | { readonly state: 'canceled' };

/**
 * Everything that ever changes a proxy, in order. The state is what applying all facts makes of nothing; a journal
 * keeps them, a trajectory is read from them. Times are milliseconds since the epoch, with a fraction (microseconds).
 */
export type Fact =
  | { readonly kind: 'started'; readonly at: number; readonly version: number }
  /** SHA-256 of the token, base64url: the token itself is kept nowhere. */
  | {
      readonly kind: 'claimed';
      readonly at: number;
      readonly tokenHash: string;
      /** Under which it was claimed; it can be released only with it. */
      readonly agreementId?: string;
    }
  /** The claim that was made under the agreement is over; open turns stay for the next driver. */
  | { readonly kind: 'released'; readonly at: number; readonly agreementId: string }
  | { readonly kind: 'agent_configured'; readonly at: number; readonly changes: JsonObject }
  | { readonly kind: 'server_added'; readonly at: number; readonly server: EnvServer }
  | { readonly kind: 'server_removed'; readonly at: number; readonly name: string }
  | { readonly kind: 'skill_added'; readonly at: number; readonly skill: SkillRef }
  | TurnFact;

/** Facts of one turn; its `taskId` names the turn. */
export type TurnFact =
  | {
      readonly kind: 'turn_submitted';
      readonly taskId: string;
      readonly contextId: string;
      readonly at: number;
      /** The sender's message as it came, for the history of the task. */
      readonly message: JsonObject;
      readonly messageId: string;
      readonly texts: readonly string[];
      /** As it was when the message arrived. */
      readonly systemPrompt: string | null;
      /** 32 hex digits; one per task. */
      readonly traceId: string;
      /** 16 hex digits: the span of the turn. */
      readonly spanId: string;
      /** The caller's span, from `traceparent`. */
      readonly parentSpanId?: string;
    }
  | {
      readonly kind: 'turn_opened';
      readonly taskId: string;
      readonly at: number;
      /** The version that this opening made. */
      readonly version: number;
      readonly servers: readonly EnvServer[];
      readonly skills: readonly SkillRef[];
    }
  | {
      readonly kind: 'recorded';
      readonly taskId: string;
      readonly at: number;
      readonly blocks: readonly RecordedBlock[];
      /** The calls in it that must be run before the next record or reply. */
      readonly expected: readonly ExpectedCall[];
      readonly model?: string;
      readonly usage?: JsonObject;
      readonly spanId: string;
    }
  | {
      readonly kind: 'action_started';
      readonly taskId: string;
      readonly actionId: string;
      readonly at: number;
      readonly action: Action;
      /** The recorded call that it is; undefined before the first record. */
      readonly call?: ExpectedCall;
      readonly spanId: string;
    }
  | {
      readonly kind: 'action_ended';
      readonly taskId: string;
      readonly actionId: string;
      readonly at: number;
      readonly cause: ActionEndCause;
      readonly result: ActionResult;
      /** `mcp.*` and the like, for the span. */
      readonly attributes?: JsonObject;
    }
  /** Accepted; the turn still closes. */
  | { readonly kind: 'turn_ending'; readonly taskId: string; readonly at: number; readonly end: TurnEnd }
  | {
      readonly kind: 'turn_closed';
      readonly taskId: string;
      readonly at: number;
      /** The version that this closing made; undefined for a turn that never opened. */
      readonly version?: number;
      readonly end: TurnEnd;
      /** Of the status message. */
      readonly messageId: string;
      readonly toolCallCount: number;
      /** Processes that finished commands had left running, and that ended with the turn; undefined for none. */
      readonly survivors?: number;
    }
  /** Forgotten, to keep within a bound; never an open one. */
  | { readonly kind: 'turn_forgotten'; readonly taskId: string; readonly at: number };

/** A call of a recorded message, as actions are compared with it. */
export interface ExpectedCall {
  /** Position among the calls of its message. */
  readonly index: number;
  readonly callId: string | null;
  readonly name: string;
  /** Canonical JSON text of what is compared: the arguments, or the command of the proxy's bash. */
  readonly key: string;
}

/** A refusal as a driver or sender gets it: a status and one plain sentence. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly status: 400 | 401 | 404 | 409 | 413 | 429 | 502 | 503,
    sentence: string,
  ) {
    super(sentence);
  }
}
