import type { JsonObject } from '../json/index.js';

export type StatusCode = 'OK' | 'ERROR';

/**
 * One event of a trajectory of the format `agentenv-proxy/v1`: a recorded model call (`chat`), an action (the tool's
 * name, or `bash`) or a turn (`turn`, the last of its own). A proxy of ours adds the last four members; another's
 * events have the first five alone.
 */
export interface TrajectoryEvent {
  readonly name: string;
  /** UTC with microseconds: `2026-11-29T21:36:03.018970+00:00`. */
  readonly start_time: string;
  readonly end_time: string;
  readonly status: { readonly status_code: StatusCode };
  /** See {@link GEN_AI} and {@link PROXY} for the names. */
  readonly attributes: JsonObject;
  /** 32 hex digits; one per task. */
  readonly trace_id?: string;
  /** 16 hex digits. */
  readonly span_id?: string;
  /** The span `turn opened`, below which everything of a turn hangs. */
  readonly parent_span_id?: string;
  /** See {@link chainHash}. */
  readonly hash?: string;
}

export type EventKind = 'chat' | 'action' | 'turn';
