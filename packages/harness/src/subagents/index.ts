export { ChildAgentSpec } from './child-agent-spec.js';
export { InProcessSubagentProvider } from './in-process-provider.js';
export type { CreateChildAgent, InProcessSubagentOptions } from './in-process-provider.js';
export { outputCheck, type OutputCheck } from './output-check.js';
export { promptText } from './prompt-text.js';
export { safeDiagnostic } from './safe-diagnostic.js';
export {
  DuplicateSubagentProviderError,
  SubagentCapabilityError,
  SubagentDepthError,
  SubagentStartError,
  UnknownSubagentProviderError,
} from './subagent-errors.js';
export { SubagentRegistry } from './subagent-registry.js';
export { SubagentTool, subagentTool } from './subagent-tool.js';
export type { SubagentToolOptions } from './subagent-tool.js';
export { SUBAGENT_STOP_REASONS } from './subagent-types.js';
export type {
  SubagentAgentOptions,
  SubagentCapabilities,
  SubagentParent,
  SubagentPromptBlock,
  SubagentProvider,
  SubagentRequest,
  SubagentResult,
  SubagentRun,
  SubagentStopReason,
  SubagentToolFilter,
  SubagentUpdate,
} from './subagent-types.js';
export { borrowHandler } from './tool-filter.js';
export { UpdateChannel } from './update-channel.js';
