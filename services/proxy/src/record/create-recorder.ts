import type { Logger } from '@parley/service-kit';
import type { Recorder } from './recorder-types.js';
import { FactRecorder } from './fact-recorder.js';
import type { SpanSink } from './span-sink.js';

export interface RecorderOptions {
  readonly logger: Logger;
  /** Where spans go; none are made without. See `createSpanExporter`. */
  readonly spans?: SpanSink | undefined;
  /** PROXY_TRACE_CONTENT: messages, arguments and results on spans. Default true; trajectories always have all. */
  readonly traceContent?: boolean;
  /** The agent's name until it is configured. Default `agentenv-proxy`. */
  readonly agentName?: string;
  /** Default 1,024; the least recently used go first, never one that is unfinished. */
  readonly maxContexts?: number;
  /** Bytes of all trajectories, as JSON. Default 512 MiB. */
  readonly maxTrajectoryBytes?: number;
}

export function createRecorder(options: RecorderOptions): Recorder {
  return new FactRecorder(options);
}
