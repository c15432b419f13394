import type { Fact, Json, JsonObject } from '../domain/facts.js';

export type TrajectoryState = 'pending' | 'running' | 'completed' | 'failed' | 'canceled';

export interface TrajectoryPage {
  readonly context_id: string;
  readonly task_id: string;
  readonly state: TrajectoryState;
  readonly format: string | null;
  readonly events: readonly Json[];
  readonly next: number;
  readonly has_more: boolean;
}

export type TrajectorySubject = { readonly taskId: string } | { readonly contextId: string };

/** Turns facts into trajectory events (kept, read in pages) and into spans (sent once). */
export interface Recorder {
  /** Sync and cheap; `replayed`: it was told in an earlier life, so no span is sent for it again. */
  observe(fact: Fact, options?: { readonly replayed?: boolean }): void;
  /** @throws Refusal 404 `No completed trajectory available for task '<id>'` / `Unknown context '<id>'`. */
  whole(subject: TrajectorySubject): readonly JsonObject[];
  /** @throws Refusal 404, or 400 if `after` is past the end. */
  page(subject: TrajectorySubject, after: number, limit: number): TrajectoryPage;
  /** Sends what is left, within the time. */
  close(timeoutMs: number): Promise<void>;
}
