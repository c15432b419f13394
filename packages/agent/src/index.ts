export type { CapabilityDetail, ParameterSchema, Scalar, Skill, SkillContext } from './skill.js';
export {
  agentId,
  capabilityName,
  capabilityRequirement,
  endpointUrl,
  plainText,
  safeKey,
  semanticVersion,
  sessionId,
  sha256Base64Url,
  termsDigest,
  type CapabilityRequirement,
} from './wire/identifiers.js';
export {
  compilePattern,
  manifestSchema,
  matchesType,
  parameterFault,
  parameterName,
  type AgentInterface,
  type Manifest,
} from './wire/manifest.js';
export * from './wire/agreement.js';
export * from './wire/answers.js';
export * from './wire/negotiation.js';
export {
  digestTerms,
  hashProof,
  newProof,
  normalTerms,
  offeredCapabilities,
  proofMatches,
  type NegotiationPolicy,
  type OfferedCapabilities,
  type PolicyContext,
  type PolicyRequest,
  type PolicyVerdict,
  type Proof,
} from './negotiation/index.js';
export * from './agreements/index.js';
export * from './peer/index.js';
export * from './registry-client/index.js';
export * from './lease/index.js';
export * from './initiator/index.js';
export * from './agent/index.js';
export * from './serve/index.js';
export type {
  TaskArtifact,
  TaskExecutor,
  TaskOutcome,
  TaskPart,
  TaskReporter,
  TaskRequest,
} from './a2a/task-executor.js';
export type { Delegate, DelegateRequest, DelegateResult } from './a2a/delegate/delegate.js';
export type { AdmittedWork, AgreementGate } from './a2a/agreement/agreement-gate.js';
export {
  connectA2a,
  isResting,
  isTerminal,
  type A2aAnswer,
  type A2aBinding,
  type A2aCallOptions,
  type A2aConnection,
  type A2aListFilter,
  type A2aMessage,
  type A2aMetadata,
  type A2aSendOptions,
  type A2aTask,
  type A2aTaskPage,
  type A2aTaskState,
  type A2aUpdate,
  type ConnectA2aOptions,
} from './a2a/client/index.js';
export {
  buildAgentCard,
  buildExtendedAgentCard,
  createA2aServer,
  type A2aCardOptions,
  type A2aServer,
  type A2aServerOptions,
  type CardSkill,
} from './a2a/server/index.js';
export {
  createTaskEngine,
  taskExecutorAdapter,
  type TaskEngine,
  type TaskEngineOptions,
  type TaskLimits,
} from './a2a/tasks/index.js';
export { createMemoryTaskStore, createRedisTaskStore, type AgentTaskStore } from './a2a/stores/index.js';
export { createMemoryPushStore, createPushSender, createRedisPushStore } from './a2a/push/index.js';
export { createDelegate, type DelegateOptions } from './a2a/delegate/index.js';
export { AGREEMENT_EXTENSION, agreementCall, agreementExtension, createAgreementGate } from './a2a/agreement/index.js';
