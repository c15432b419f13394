import { within } from '../lifecycle/within.js';
import type { Logger } from '../logging/logger.js';

/** What delivers the last spans: set by whoever starts tracing, flushed last. */
export interface TelemetryHandle {
  shutdown(): Promise<void>;
}

/** Global: the preload may have a copy of this module of its own. */
const TELEMETRY = Symbol.for('parley.telemetry');
/** With a collector that is away the library takes about 8 s and then rejects. */
const FLUSH_TIMEOUT_MS = 2_500;

export function publishTelemetry(handle: TelemetryHandle): void {
  (globalThis as Record<symbol, unknown>)[TELEMETRY] = handle;
}

/** Undefined where nothing is traced. */
export function telemetryHandle(): TelemetryHandle | undefined {
  return (globalThis as Record<symbol, unknown>)[TELEMETRY] as TelemetryHandle | undefined;
}

/**
 * Delivers the last spans and stops tracing, for programs that are no services; nothing to do where nothing is traced.
 * Never rejects, and never takes longer than it may.
 *
 * @param timeoutMs default 2,500.
 */
export async function stopTelemetry(logger: Pick<Logger, 'warn'>, timeoutMs = FLUSH_TIMEOUT_MS): Promise<void> {
  const handle = telemetryHandle();
  if (handle === undefined) return;
  try {
    const delivered = handle.shutdown();
    if (!(await within(timeoutMs, delivered))) throw new Error(`not within ${String(timeoutMs)} ms`);
    await delivered;
  } catch (error) {
    // A collector that is away must not make an orderly stop look failed.
    logger.warn('the last spans were not delivered', { error });
  }
}
