export type { AcpChild, OpenChild } from './acp-child.js';
export type { AcpDeadlines } from './acp-deadlines.js';
export {
  AcpAuthRequiredError,
  AcpCancelledError,
  AcpChildError,
  AcpOptionsError,
  AcpProviderClosedError,
  AcpRefusedError,
  AcpTimeoutError,
  AcpVersionError,
} from './acp-errors.js';
export type { AcpSubagentOptions } from './acp-options.js';
export { AcpSubagentProvider } from './acp-provider.js';
export { replayChildren } from './replay-children.js';
export type { PermissionAnswer, PermissionCallback, PermissionPolicy } from './permission-policy.js';
export type { PermissionKind, PermissionOption, PermissionQuestion } from './permission-question.js';
export type { WarmPoolOptions } from './warm-pool.js';
