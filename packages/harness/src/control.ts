import type { ControlInputKind, ControlStatus } from './enums.js';

/** What came of a steering text or a follow-up. */
export interface ControlReceipt {
  readonly status: ControlStatus;
  readonly kind: ControlInputKind;
  /** 32 hexadecimal digits; null if it was not accepted. */
  readonly inputId: string | null;
  /** How many wait after this one. */
  readonly queueSize: number;
}

export interface ControlInput {
  readonly inputId: string;
  readonly kind: ControlInputKind;
  readonly content: string;
}
