import type { WorkOrder } from './read-parts.js';

/** What is missing: something to work on, a value of a parameter, or what to do at all. */
export const MISSING = ['text', 'parameters', 'request'] as const;
export type Missing = (typeof MISSING)[number];

/** A question that a turn ended with; the next turn of its task answers it. */
export interface PendingQuestion {
  readonly missing: Missing;
  /** Set if a described piece of work was not complete. */
  readonly order?: WorkOrder;
}
