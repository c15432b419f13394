import { isTelemetryWanted } from './wanted.js';

/**
 * Exports the spans that a program makes itself, where the standard variables ask for it. Nothing is instrumented, so it
 * needs no preload, and a process that lives for one piece of work starts in half the time.
 */
export async function startSpans(env: Readonly<Record<string, string | undefined>>): Promise<void> {
  if (!isTelemetryWanted(env)) return;
  const { startSdk } = await import('./start-sdk.js');
  startSdk([]);
}
