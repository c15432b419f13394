import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as harness from '@parley/harness';
import { section } from './markdown-tables.js';

const root = join(import.meta.dirname, '..', '..');
const entry = readFileSync(join(root, 'packages', 'harness', 'src', 'index.ts'), 'utf8');

/** Values and types that the entry exports. */
const exported = new Set([...entry.matchAll(/\b(?:type )?(\w+)(?=\s*[,}])/gu)].map(([, name]) => name));

/** The public API of the original, by what its documentation lists. */
const ORIGINAL = `BaseAgent AgentOrchestrator AgentState AgentStatus ModelAdapter OpenAIModelAdapter ModelConfig
  AssistantMessage ModelToolCall ModelUsage ModelStreamEvent ModelTextDelta ModelThinkingDelta ModelResponseCompleted
  ModelErrorKind ModelProviderError ContextOverflowError ModelRateLimitError ModelTimeoutError
  ModelAuthenticationError RuntimePolicy AgentRunResult RunUsage AgentRunError RunStatus StopReason BehaviorHook
  BehaviorAction BehaviorDecision BehaviorHookError TurnSnapshot CancellationToken CancellationSource
  AgentCancelledError AgentEvent AgentEventSink CompositeAgentEventSink AgentContinued AssistantTextDelta
  AssistantThinkingDelta ToolProgressed SteeringApplied SteeringDiscarded ContextPressureEvaluated CompactionStarted
  CompactionCompleted CompactionFailed ControlInputKind ControlStatus ControlInput ControlReceipt
  ContinueRejectedReason ContinueRejectedError FollowUpFailurePolicy FollowUpDiscardReason FollowUpHandle
  FollowUpError FollowUpRejectedError FollowUpDiscardedError AgentSession SessionRun SessionRunIntent SessionRecorder
  SessionStorage SessionJournalStorage SessionTreeStorage MemorySessionStorage JsonlSessionStorage SessionCompaction
  SessionRecord SessionRecordDraft SessionRecordKind SessionBranchIntent SessionBranch SessionCheckout SessionRetry
  DEFAULT_SESSION_BRANCH SESSION_SCHEMA_VERSION SESSION_JOURNAL_SCHEMA_VERSION session_to_dict session_from_dict
  SessionError SessionSerializationError SessionStorageError SessionConflictError SessionLockTimeoutError
  AgentContextBuilder ContextBuildResult ContextBudget ContextUsageEstimate CompactionPolicy AutoCompactionPolicy
  CompactionDecision CompactionPreparation MessageTokenEstimator estimate_context_usage prepare_compaction
  CompactionRuntime Compactor ModelCompactor CompactionContextBuilder CompactorOutput CompactionRequest
  CompactionResult CompactionStatus CompactionTrigger SummaryEntry ToolDefinition ToolDefinitionError ToolEffect
  StepOutcome ToolControl ToolProgressUpdate ToolProgressReporter BaseHandler MethodToolHandler McpToolHandler
  Middleware ToolMiddleware ToolCallContext ToolNext ToolExecutionPolicy RuleBasedToolPolicy ToolPolicyRule
  ToolPolicyPredicate ToolPolicyAction ToolPolicyDecision ToolPolicyMiddleware ToolApprover ToolApprovalRequest
  ToolApprovalDecision ToolSchemaValidationMiddleware ToolSchemaConfigurationError McpServerManager SkillManager`
  .split(/\s+/u)
  .filter((name) => name !== '');

const rows = section('docs/harness-api.md', 'Names')
  .filter((line) => line.startsWith('| ') && !/^\| (?:EJAgent Core|-+) /u.test(line))
  .map((line) => line.split('|').slice(1, 4));

const namesIn = (cell: string | undefined) => [...(cell ?? '').matchAll(/`([\w.]+)`/gu)].map(([, name = '']) => name);

describe('docs/harness-api.md', () => {
  it('says of every name of the original what became of it', () => {
    const told = new Set(rows.flatMap(([old]) => namesIn(old)));
    expect(new Set(ORIGINAL).size).toBe(135);
    expect(ORIGINAL.filter((name) => !told.has(name))).toEqual([]);
  });

  it('names only what the package exports', () => {
    const here = rows.flatMap(([, name]) => namesIn(name));
    expect(here.length).toBeGreaterThan(120);
    const unknown = here.filter((name) => {
      const [owner = '', method] = name.split('.');
      if (method === undefined) return !exported.has(owner);
      const type = (harness as unknown as Record<string, { prototype: object } | undefined>)[owner];
      return type === undefined || !(method in type.prototype);
    });
    expect(unknown).toEqual([]);
  });
});
