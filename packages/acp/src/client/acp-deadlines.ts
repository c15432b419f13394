import { AcpOptionsError } from './acp-errors.js';

/** How long is waited for what, in milliseconds; Infinity switches one off. */
export interface AcpDeadlines {
  /** From the start of the program to its answer to `initialize`. Default 60,000. */
  readonly initializeMs: number;
  /** For the answer to `session/new`, and for a prompt to be taken by the child. Default 60,000. */
  readonly newSessionMs: number;
  /** Without any message of the child while its prompt runs; waiting for a permission does not count. Default 300,000. */
  readonly idleMs: number;
  /** The whole prompt. Default 1,800,000. */
  readonly promptMs: number;
  /** After a cancel, for the child's own end of its turn and its last text. Default 2,000. */
  readonly cancelGraceMs: number;
  /** At the end, after its stdin was closed, for the child to go by itself. Default 1,000. */
  readonly closeMs: number;
  /** Then, after SIGTERM and before SIGKILL. Default 2,000. */
  readonly termMs: number;
}

const DEFAULTS: AcpDeadlines = {
  initializeMs: 60_000,
  newSessionMs: 60_000,
  idleMs: 300_000,
  promptMs: 1_800_000,
  cancelGraceMs: 2_000,
  closeMs: 1_000,
  termMs: 2_000,
};

/** @throws AcpOptionsError */
export function acpDeadlines(given: Partial<AcpDeadlines> = {}): AcpDeadlines {
  const known = Object.entries(given).filter(([, ms]) => (ms as number | undefined) !== undefined);
  const deadlines: AcpDeadlines = { ...DEFAULTS, ...(Object.fromEntries(known) as Partial<AcpDeadlines>) };
  for (const [name, ms] of Object.entries(deadlines)) checkAtLeast(`deadlines.${name}`, ms as number, 0);
  return deadlines;
}

/** @throws AcpOptionsError also for NaN, which no comparison would find. */
export function checkAtLeast(name: string, value: number, least: number): void {
  if (!(value >= least)) throw new AcpOptionsError(`${name} must be a number of at least ${least}`);
}
