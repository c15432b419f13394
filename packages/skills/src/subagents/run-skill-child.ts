import { Console } from 'node:console';
import type { Skill } from '@parley/agent';
import { createLogger, startSpans, stopTelemetry } from '@parley/service-kit/base';
import { serveSkillChild } from './serve-skill-child.js';

/** For the last spans, if the collector is away; whoever waits for this process gives it longer. */
export const CHILD_FLUSH_MS = 1_000;

/** A whole program: serves the skill on stdin and stdout until stdin ends, delivers its spans, exits with 0. */
export async function runSkillChild(skill: Skill, agentId: string): Promise<void> {
  // Only the protocol may write to stdout, also where a library means well.
  globalThis.console = new Console(process.stderr);
  const logger = createLogger({ service: agentId, level: 'warn', destination: process.stderr });
  await startSpans(process.env);
  const server = serveSkillChild({ skill, agentId, input: process.stdin, output: process.stdout, logger });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void server.close());
  // Not waited for: what the skill loads is loaded while the client still introduces itself.
  skill.prepare?.().catch((error: unknown) => {
    logger.warn(`${skill.capability} could not be prepared`, { error });
  });
  await server.closed;
  await stopTelemetry(logger, CHILD_FLUSH_MS);
  process.exit(0);
}
