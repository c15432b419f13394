import type { ModelUsage } from './model/usage.js';

/** A call as the model wrote it. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The raw JSON text; parsed, and refused if it is no object, where the call is run. */
  readonly arguments: string;
}

/** What a summary in the history stands for. Token counts are estimates. */
export interface SummaryEntry {
  readonly content: string;
  /** Who wrote it, such as a model's name. */
  readonly source: string;
  /**
   * Index in the history before the cut of the first message that it may replace; the user message of a turn that was
   * cut inside may have been kept.
   */
  readonly historyStart: number;
  /** Index in the history before the cut of the first message after it; all from there on were kept. */
  readonly firstKept: number;
  /** How many messages it replaces. */
  readonly messageCount: number;
  readonly tokensBefore: number;
}

export interface SystemMessage {
  readonly role: 'system';
  readonly content: string;
  /** Set if the message is the summary of older history. */
  readonly summary?: SummaryEntry;
}

export interface UserMessage {
  readonly role: 'user';
  readonly content: string;
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string | null;
  /** Empty if it calls nothing. Ids are unique within the history. */
  readonly toolCalls: readonly ToolCall[];
  /** The model's reasoning text, if the provider gave it; sent back only by adapters told to. */
  readonly reasoning?: string;
  /** Absent or null: unknown, not zero. */
  readonly usage?: ModelUsage | null;
}

export interface ToolMessage {
  readonly role: 'tool';
  readonly toolCallId: string;
  readonly content: string;
}

/** One entry of a history. Messages are never changed after they were made. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;
