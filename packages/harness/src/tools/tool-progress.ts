import type { JsonValue } from '../json.js';

/** One step that a running tool tells about. */
export interface ToolProgressUpdate {
  readonly message: string;
  readonly data?: JsonValue;
}

/**
 * Reports of one call: shown in order, dropped after the run was cancelled or the call completed,
 * never stored.
 */
export interface ToolProgressReporter {
  /** Resolves when every sink has seen it. Never rejects. */
  report(update: ToolProgressUpdate): Promise<void>;
}
