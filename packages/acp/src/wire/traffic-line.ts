import type { AnyMessage } from '@agentclientprotocol/sdk';
import type { GarbageKind } from './garbage-count.js';

/** First line of a recording. */
export const HEADER = { format: 'parley-acp-traffic', version: 1 } as const;

/** Any other line: one of the last five. */
export interface TrafficLine {
  /** Number of the child, from 1. */
  readonly run: number;
  /** Milliseconds since the child began. */
  readonly at: number;
  /** From us to the child. */
  readonly out?: AnyMessage;
  readonly in?: AnyMessage;
  readonly garbage?: GarbageKind;
  /** The child's output has ended. */
  readonly end?: true;
  /** Nothing was recorded any more. */
  readonly full?: true;
}
