import { HarnessError } from '@parley/harness';

/** A child writes lines to its output that are no messages, and too many of them. Code `acp_too_much_garbage`. */
export class TooMuchGarbageError extends HarnessError {
  override readonly name = 'TooMuchGarbageError';

  constructor(readonly lines: number) {
    super('acp_too_much_garbage', `the child wrote ${lines} lines to its standard output that are no ACP messages`);
  }
}

/** A child's line is longer than allowed; nothing after it is read. Code `acp_message_too_large`. */
export class MessageTooLargeError extends HarnessError {
  override readonly name = 'MessageTooLargeError';

  constructor(readonly maxBytes: number) {
    super('acp_message_too_large', `the child wrote a line of more than ${maxBytes} bytes to its standard output`);
  }
}

/** A message could not be given to the child: it has closed its input, or has ended. Code `acp_input_closed`. */
export class ChildInputClosedError extends HarnessError {
  override readonly name = 'ChildInputClosedError';

  constructor(options?: { readonly cause?: unknown }) {
    super('acp_input_closed', 'the child takes no messages any more: its standard input is closed', options);
  }
}

/** A text is no recording, or not one of that run. Code `acp_recording_invalid`. */
export class RecordingError extends HarnessError {
  override readonly name = 'RecordingError';

  constructor(message: string) {
    super('acp_recording_invalid', `the recording cannot be played: ${message}`);
  }
}

/** What is said to a replayed child differs from what was said to the recorded one. Code `acp_replay_mismatch`. */
export class ReplayMismatchError extends HarnessError {
  override readonly name = 'ReplayMismatchError';

  constructor(
    message: string,
    /** Where in the recording, from 1. */
    readonly line: number,
  ) {
    super('acp_replay_mismatch', `the traffic differs from line ${line} of the recording: ${message}`);
  }
}
