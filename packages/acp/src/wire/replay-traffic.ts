import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import { messageStream } from './message-stream.js';
import { readRecording } from './read-recording.js';
import { ReplayedChild } from './replayed-child.js';
import type { ReplayMismatchError } from './wire-errors.js';

export interface ReplayOptions {
  /** Number of the child in the recording. Default 1. */
  readonly run?: number | undefined;
  /** Whether a message of ours may stand for a recorded one of the same kind and method. Default: always. */
  readonly isSame?: ((recorded: AnyMessage, actual: AnyMessage) => boolean) | undefined;
}

/** A child that needs no process. */
export interface ReplayStream extends Stream {
  /** How many messages of the recording, of both sides, were not said yet. */
  readonly remaining: number;
  /** Why it failed. */
  readonly failure: ReplayMismatchError | undefined;
}

/**
 * Plays the child's side of a recording: what it said after so many messages of ours is said when those have come.
 * Messages of ours that no message of the child parts may come in any order; ids need not be those of the recording.
 * Both sides fail with `ReplayMismatchError` at a message that was not recorded there. The readable side ends where the
 * child's output ended, else stays open.
 *
 * @throws RecordingError
 */
export function replayTraffic(recording: string, options: ReplayOptions = {}): ReplayStream {
  const child = new ReplayedChild(readRecording(recording, options.run ?? 1), options.isSame ?? (() => true));
  return {
    readable: messageStream(child),
    writable: new WritableStream<AnyMessage>({ write: (message) => child.take(message) }),
    get remaining() {
      return child.remaining;
    },
    get failure() {
      return child.failure;
    },
  };
}
