export { RuleBasedToolPolicy, type RuleBasedToolPolicyOptions } from './rule-based-tool-policy.js';
export type { ToolApprovalDecision, ToolApprovalRequest, ToolApprover } from './tool-approver.js';
export {
  DENIAL_MODES,
  ToolPolicyMiddleware,
  type DenialMode,
  type ToolPolicyMiddlewareOptions,
} from './tool-policy-middleware.js';
export type { ToolPolicyPredicate, ToolPolicyRule } from './tool-policy-rule.js';
export type { ToolExecutionPolicy, ToolPolicyDecision } from './tool-policy.js';
