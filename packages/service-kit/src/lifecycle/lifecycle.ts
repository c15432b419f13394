import type { Logger } from '../logging/logger.js';

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

async function runPhase(phase: ShutdownPhase): Promise<{ outcome: PhaseResult['outcome']; error?: unknown }> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<{ outcome: 'timed_out' }>((resolve) => {
    timer = setTimeout(() => {
      resolve({ outcome: 'timed_out' });
    }, phase.timeoutMs);
  });
  const work = (async (): Promise<{ outcome: 'done' | 'failed'; error?: unknown }> => {
    try {
      await phase.run();
      return { outcome: 'done' };
    } catch (error) {
      return { outcome: 'failed', error };
    }
  })();
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
