export type {
  AcpAgentSession,
  AcpAuth,
  AcpChoice,
  AcpCommand,
  AcpConfigOption,
  AcpModes,
  AcpServer,
  ServeAcpOptions,
} from './acp-agent-types.js';
export { FileSessionDirectory } from './file-session-directory.js';
export { serveAcp } from './serve-acp.js';
export { MemorySessionDirectory, type SessionDirectory, type SessionFacts } from './session-directory.js';
