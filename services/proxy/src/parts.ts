import { hostname } from 'node:os';
import type { Logger } from '@parley/service-kit';
import { DEFAULT_PASSED_ENV } from '@parley/shell';
import type { CommandRunner } from './actions/action-types.js';
import { ownCommandEnv } from './actions/command-env.js';
import { createCommandRunner } from './actions/command-runner.js';
import type { ProxyConfig } from './config.js';
import { type FactLog, NoFactLog } from './journal/fact-log.js';
import { openFactLog } from './journal/open-fact-log.js';
import { createRecorder } from './record/create-recorder.js';
import type { Recorder } from './record/recorder-types.js';
import { createSpanExporter } from './record/span-exporter.js';
import { readTraceTarget } from './record/trace-target.js';

export interface Parts {
  readonly log: FactLog;
  readonly recorder: Recorder;
  readonly commands: CommandRunner | undefined;
}

/** What the engine stands on, as the configuration wants it. */
export async function createParts(config: ProxyConfig, logger: Logger, cwd: string): Promise<Parts> {
  const dir = config.PROXY_STATE_DIR;
  const target = readTraceTarget(process.env, { serviceName: 'proxy', instanceId: hostname() });
  return {
    log: dir === undefined ? new NoFactLog() : await openFactLog({ dir, logger }),
    recorder: createRecorder({
      logger,
      spans: target === undefined ? undefined : createSpanExporter({ target, logger }),
      traceContent: config.PROXY_TRACE_CONTENT === 'on',
      maxContexts: config.PROXY_MAX_CONTEXTS,
      maxTrajectoryBytes: config.PROXY_MAX_TRAJECTORY_BYTES,
    }),
    commands: config.PROXY_SHELL === 'off' ? undefined : commandRunner(config, logger, cwd),
  };
}

function commandRunner(config: ProxyConfig, logger: Logger, cwd: string): CommandRunner {
  return createCommandRunner({
    cwd,
    passedEnv: DEFAULT_PASSED_ENV,
    ownEnv: ownCommandEnv(process.env),
    maxStreamBytes: config.PROXY_MAX_OUTPUT_BYTES,
    killGraceMs: config.PROXY_KILL_GRACE_MS,
    logger,
  });
}
