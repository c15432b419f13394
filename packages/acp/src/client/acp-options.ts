import type { McpServer } from '@agentclientprotocol/sdk';
import type { Tracer } from '@opentelemetry/api';
import type { HarnessLogger, JsonObject } from '@parley/harness';
import type { InheritEnv } from '../child/index.js';
import type { TrafficRecorder } from '../wire/index.js';
import type { AcpDeadlines } from './acp-deadlines.js';
import type { PermissionCallback, PermissionPolicy } from './permission-policy.js';
import type { WarmPoolOptions } from './warm-pool.js';

export interface AcpSubagentOptions {
  /** The child's program, never a line for a shell. */
  readonly command: string;
  readonly args?: readonly string[];
  /** The child's working folder, and that of its sessions. Absolute. */
  readonly cwd: string;
  /** What the provider is called in traces. Default `acp`. */
  readonly name?: string;
  /** Variables of the child, added last. */
  readonly env?: Readonly<Record<string, string>>;
  /** What else it inherits. Default `allowlist`. */
  readonly inheritEnv?: InheritEnv;
  /** Names of variables that it inherits whatever they look like, such as KUBECONFIG. */
  readonly forwardEnv?: readonly string[];
  /** Default the environment of this process. */
  readonly parentEnv?: Readonly<Record<string, string | undefined>>;
  /** How the child's questions are answered. Default `reject`. */
  readonly permission?: PermissionPolicy | PermissionCallback;
  /** For a callback to decide, in milliseconds; then it is a refusal. Default 60,000. */
  readonly permissionTimeoutMs?: number;
  readonly deadlines?: Partial<AcpDeadlines>;
  /** Of the child's answer; what is longer is cut. Default 1,048,576. */
  readonly maxOutputBytes?: number;
  /** Of one message of the child. Default 33,554,432. */
  readonly maxMessageBytes?: number;
  /** Lines on the child's stdout that are no messages, in one run; one more fails it. Default 100. */
  readonly maxGarbageLines?: number;
  /** Servers that the child is to connect to. */
  readonly mcpServers?: readonly McpServer[];
  /** Goes with each prompt, as `_meta`; the trace is added by the provider. */
  readonly meta?: () => JsonObject;
  /** Keeps children that have ended their prompt in good order for the next one. Default: each run has its own. */
  readonly pool?: WarmPoolOptions;
  readonly record?: TrafficRecorder;
  readonly logger?: HarnessLogger;
  /** 32 hexadecimal digits, new each time. */
  readonly newId?: () => string;
  /** Default the global one. */
  readonly tracer?: Tracer;
}
