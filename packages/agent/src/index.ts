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
export * from './a2a/agreement/index.js';
export * from './a2a/client/index.js';
export * from './a2a/delegate/index.js';
export * from './a2a/push/index.js';
export * from './a2a/server/index.js';
export * from './a2a/stores/index.js';
export * from './a2a/tasks/index.js';
