import type { Logger } from '../logging/logger.js';
import { within } from './within.js';

/** One step of stopping. Later phases run even when an earlier one failed or took too long. */
export interface ShutdownPhase {
  readonly name: string;
  /** The phase is given up after this; what it started goes on or not, the next phase begins. */
  readonly timeoutMs: number;
  readonly run: () => Promise<void> | void;
}

export interface PhaseResult {
  readonly name: string;
  readonly outcome: 'done' | 'failed' | 'timed_out';
  readonly durationMs: number;
}

/** Runs phases in order, each within its own time. Never rejects. */
export async function runPhases(phases: readonly ShutdownPhase[], logger: Logger): Promise<readonly PhaseResult[]> {
  const results: PhaseResult[] = [];
  for (const phase of phases) {
    const started = performance.now();
    const { outcome, error } = await runPhase(phase);
    const durationMs = Math.round(performance.now() - started);
    results.push({ name: phase.name, outcome, durationMs });
    const fields = { phase: phase.name, duration_ms: durationMs };
    if (outcome === 'done') logger.info(`stopped: ${phase.name}`, fields);
    else
      logger.error(`not stopped in order: ${phase.name} ${outcome}`, {
        ...fields,
        ...(error === undefined ? {} : { error }),
      });
  }
  return results;
}

interface PhaseEnd {
  readonly outcome: PhaseResult['outcome'];
  readonly error?: unknown;
}

async function runPhase(phase: ShutdownPhase): Promise<PhaseEnd> {
  const work = settled(phase);
  return (await within(phase.timeoutMs, work)) ? work : { outcome: 'timed_out' };
}

async function settled(phase: ShutdownPhase): Promise<PhaseEnd> {
  try {
    await phase.run();
    return { outcome: 'done' };
  } catch (error) {
    return { outcome: 'failed', error };
  }
}
