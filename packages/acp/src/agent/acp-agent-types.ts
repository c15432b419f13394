import type { AuthMethod, Implementation } from '@agentclientprotocol/sdk';
import type {
  AgentApi,
  AgentEvent,
  HarnessLogger,
  McpServerConfig,
  SessionJournal,
  SessionStorage,
  ToolApprover,
  ToolMiddleware,
} from '@parley/harness';
import type { Readable, Writable } from 'node:stream';
import type { SessionDirectory } from './session-directory.js';

/** One of several things that a client can choose for a session. */
export interface AcpChoice {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
}

/** What an agent may do by itself; what each mode means is the host's business. */
export interface AcpModes {
  /** Id of the mode in which sessions begin. */
  readonly initial: string;
  readonly available: readonly AcpChoice[];
}

/** A setting of a session with a list of values, such as its model. */
export interface AcpConfigOption {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  /** Such as `model` or `thought_level`; a hint for how it is shown. */
  readonly category?: string;
  readonly initial: string;
  readonly values: readonly AcpChoice[];
}

/** A skill that is used by `/name …` at the beginning of a prompt. */
export interface AcpCommand {
  readonly name: string;
  readonly description: string;
  /** What is typed after the name. */
  readonly hint?: string;
}

export interface AcpAuth {
  readonly methods: readonly AuthMethod[];
  /** @throws if it did not work out. */
  authenticate(methodId: string): Promise<void>;
  /** Asked before each session is opened. Default: never. */
  isRequired?(): boolean;
}

/** What a host makes an agent of. */
export interface AcpAgentSession {
  readonly id: string;
  /** Absolute; a folder that exists. */
  readonly cwd: string;
  /** Those of the client, by name, as `McpToolHandler` takes them. */
  readonly mcpServers: Readonly<Record<string, McpServerConfig>>;
  /** Id of the current mode. Changes at any time: read it for each decision. Empty if there are no modes. */
  readonly mode: string;
  /** Current values of the configuration options, by id. Changes as `mode` does. */
  readonly config: Readonly<Record<string, string>>;
  /** The agent's `session`. */
  readonly journal: SessionJournal;
  /** Asks the client, and remembers what was meant for good. The approver of a `ToolPolicyMiddleware`. */
  readonly askApproval: ToolApprover['approve'];
  /** Belongs into the agent's sinks. */
  readonly onEvent: (event: AgentEvent) => Promise<void>;
  /** Belongs into the agent's middlewares, so that tools without a telling name are shown as what they are. */
  readonly toolWatch: ToolMiddleware;
}

export interface ServeAcpOptions {
  readonly input: Readable;
  /** Nothing else may write to it. */
  readonly output: Writable;
  readonly info: Implementation;
  /** Owner of the sessions in the storage. */
  readonly agentId: string;
  readonly makeAgent: (session: AcpAgentSession) => AgentApi | Promise<AgentApi>;
  /** Stays open when the server closes. */
  readonly storage: SessionStorage;
  /** Folders and titles of sessions. Default in memory: a later process lists none. */
  readonly directory?: SessionDirectory;
  /** Removes a session's journal. Without it `session/delete` is not offered. */
  readonly deleteSession?: (sessionId: string) => Promise<void>;
  readonly modes?: AcpModes;
  readonly configOptions?: readonly AcpConfigOption[];
  readonly commands?: readonly AcpCommand[];
  readonly auth?: AcpAuth;
  /** Tokens that the model can take in; without it `usage_update` is not sent. */
  readonly contextWindowTokens?: number;
  /** Live sessions at most. Default 100. */
  readonly maxSessions?: number;
  /** Of one message of the client. Default 33,554,432. */
  readonly maxMessageBytes?: number;
  /** How long `close` waits for running tools and agents, in milliseconds. Default 10,000. */
  readonly closeMs?: number;
  readonly logger?: HarnessLogger;
  /** Up to 64 letters, digits, dots, dashes, underscores. Default a random UUID. */
  readonly newSessionId?: () => string;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export interface AcpServer {
  /** Resolves when the connection has ended and no agent is left. Never rejects. */
  readonly closed: Promise<void>;
  /** Aborts what runs, ends agents and connection. Idempotent; resolves as `closed`. */
  close(): Promise<void>;
}
