import type { A2aTaskState, Scalar } from '@parley/agent';

/** By which wire an agent is spoken to. */
export const BINDINGS = ['jsonrpc', 'rest', 'grpc'] as const;
export type Binding = (typeof BINDINGS)[number];

/** How an agent is reached. */
export interface ConnectSettings {
  /** The agent, or its card. */
  readonly url: string;
  /** Undefined: the first one of the card that this program speaks. */
  readonly binding: Binding | undefined;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: no limit for a call and for following a task, half a minute for everything else. */
  readonly timeoutMs: number | undefined;
  /** What comes is printed as lines of JSON. */
  readonly isJson: boolean;
}

/** What a message is made of, as it was given. */
export interface MessageSettings {
  readonly text: string | undefined;
  /** True if the text goes on on the standard input, to its end. */
  readonly readsInput: boolean;
  /** Absolute. */
  readonly files: readonly string[];
  readonly data: readonly unknown[];
  readonly capability: string | undefined;
  readonly parameters: Readonly<Record<string, Scalar>>;
  readonly contextId: string | undefined;
  /** The task that asked for it. */
  readonly taskId: string | undefined;
}

export type CallMode = 'stream' | 'poll' | 'detach';

/** One of the commands that speak with an agent, read and checked. */
export type A2aSettings =
  | { readonly type: 'card'; readonly connect: ConnectSettings }
  | {
      readonly type: 'call';
      readonly connect: ConnectSettings;
      readonly message: MessageSettings;
      readonly mode: CallMode;
    }
  | {
      readonly type: 'tasks';
      readonly connect: ConnectSettings;
      readonly contextId: string | undefined;
      readonly state: A2aTaskState | undefined;
      readonly limit: number;
    }
  | { readonly type: 'task'; readonly connect: ConnectSettings; readonly taskId: string; readonly follows: boolean }
  | { readonly type: 'cancel'; readonly connect: ConnectSettings; readonly taskId: string };
