import type { Json, JsonObject } from '../json/index.js';

/** A tool of a turn. */
export interface ProxyTool {
  readonly name: string;
  readonly description?: string | undefined;
  /** A JSON Schema. */
  readonly inputSchema?: JsonObject | undefined;
  /** Whose tool it is; undefined for the proxy's own bash. */
  readonly server?: string | undefined;
}

export interface ProxySkill {
  readonly name: string;
  readonly description: string;
  /** Its folder, where the proxy runs. */
  readonly path: string;
}

/** A recorded call that has not run; told by proxies that can, to a driver that comes back. */
export interface PendingCall {
  readonly id: string | null;
  readonly name: string;
  readonly arguments: JsonObject;
}

/** An action of an open turn, as it is told to a driver that comes back. */
export interface KnownAction {
  readonly actionId: string;
  readonly done: boolean;
  readonly action: ProxyAction;
}

/** An open turn. */
export interface ProxyTurn {
  readonly taskId: string;
  readonly contextId: string;
  readonly texts: readonly string[];
  readonly systemPrompt: string | null;
  readonly skills: readonly ProxySkill[];
  /** Empty where the proxy does not tell. */
  readonly pendingCalls: readonly PendingCall[];
  readonly actions: readonly KnownAction[];
}

export interface ProxyTurns {
  readonly version: number;
  /** In the order in which they opened. */
  readonly turns: readonly ProxyTurn[];
}

export type ProxyAction =
  | { readonly kind: 'bash'; readonly command: string; readonly timeoutSeconds?: number | undefined }
  | {
      readonly kind: 'tool';
      readonly server: string;
      readonly name: string;
      readonly arguments: JsonObject;
      readonly timeoutSeconds?: number | undefined;
    };

export interface ProxyBashResult {
  readonly kind: 'bash';
  /** Negative signal number if the shell was killed; undefined if it was ended before it had one. */
  readonly exitCode?: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  /** True if the middle of an output was left out. */
  readonly truncated: boolean;
}

export interface ProxyToolResult {
  readonly kind: 'tool';
  /** Content blocks of MCP. */
  readonly content: readonly Json[];
  readonly isError: boolean;
}

export type ProxyActionResult = ProxyBashResult | ProxyToolResult;

/** What a running command has written since the last time it was asked for. */
export interface ActionOutput {
  readonly stdout: string;
  readonly stderr: string;
  /** What to ask with next. */
  readonly next: number;
}

export type ActionState =
  | { readonly done: false; readonly output?: ActionOutput | undefined }
  | { readonly done: true; readonly result: ProxyActionResult };

/** What a message was recorded with. */
export interface RecordedCall {
  /** An assistant's message of OpenAI or Anthropic, or its text. */
  readonly message: string | object;
  readonly model?: string | null | undefined;
  readonly usage?: object | null | undefined;
}

export interface TrajectoryPage {
  readonly contextId: string;
  readonly taskId: string;
  readonly state: string;
  readonly format: string | null;
  readonly events: readonly JsonObject[];
  /** Where the next page begins. */
  readonly next: number;
  readonly hasMore: boolean;
}

/** Whose trajectory: a turn's, or that of all turns of a context. */
export type TrajectoryOf = { readonly taskId: string } | { readonly contextId: string };

export interface ConfiguredServer {
  readonly name: string;
  readonly url: string;
  readonly hasHeaders: boolean;
}
