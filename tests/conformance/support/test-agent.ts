import { join } from 'node:path';
import { startProcess, type RunningProcess } from '@parley/testkit';
import type { Address } from './voice.js';

const START_MS = 20_000;

export interface TestAgent extends Address {
  readonly process: RunningProcess;
  readonly stop: () => Promise<unknown>;
}

/** The conformance agent as a process of its own, on free ports. */
export async function startTestAgent(args: readonly string[] = []): Promise<TestAgent> {
  const running = await startProcess({
    command: process.execPath,
    args: [join(import.meta.dirname, '..', 'agent.mjs'), ...args],
  });
  const [, http, grpc] = await running.waitForLine(/listens on http (\d+) and grpc (\d+)/u, START_MS);
  return {
    process: running,
    url: `http://127.0.0.1:${String(http)}`,
    grpcTarget: `127.0.0.1:${String(grpc)}`,
    stop: () => running.stop(),
  };
}
