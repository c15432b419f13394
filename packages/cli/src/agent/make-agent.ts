import {
  Agent,
  type AgentApi,
  type AgentEvent,
  type HarnessLogger,
  type McpServerConfig,
  McpToolHandler,
  type ModelAdapter,
  RuleBasedToolPolicy,
  type RunObserver,
  type SessionJournal,
  type ToolApprover,
  type ToolHandler,
  type ToolMiddleware,
  ToolPolicyMiddleware,
  type ToolPolicyRule,
  ToolSchemaValidationMiddleware,
} from '@parley/harness';
import { FileTools, ShellTool } from '@parley/harness/tools';
import type { AgentSettings } from '../run-settings.js';
import { warnLogger } from '../warn-logger.js';
import { contextOptions } from './context-options.js';
import { type Allowance, Approvals, type AskApproval, isAllowed } from './approvals.js';

/** Where an agent's events and questions go. */
export interface AgentSurroundings {
  readonly agentId: string;
  readonly onEvent: (event: AgentEvent) => Promise<void> | void;
  /** Undefined if nobody can be asked: what is not allowed is denied then. */
  readonly askApproval: AskApproval | undefined;
  readonly warn: (message: string) => void;
  /** Further servers, by name. */
  readonly mcpServers?: Readonly<Record<string, McpServerConfig>>;
  /** Further middlewares, before those of the agent. */
  readonly middlewares?: readonly ToolMiddleware[];
  readonly observers?: readonly RunObserver[];
  /** Asked in place of `askApproval`; remembers by itself. */
  readonly approver?: ToolApprover;
  /** What goes for the next call, in place of `allowed` of the settings. Default: that does not change. */
  readonly permissions?: () => Permissions;
}

export interface Permissions {
  readonly allowed: ReadonlySet<Allowance>;
  /** True if nobody is to be asked about what is not allowed. */
  readonly isDenied: boolean;
}

const SYSTEM_PROMPT = `You are Parley, an assistant that works in a terminal, in the folder of a project. Use the tools to
look at files and run commands instead of guessing. Say briefly what you found and what you changed.`;

/** A person may be away for long: what waits for an answer is not denied by the clock. The longest that a timer can wait. */
const APPROVAL_TIMEOUT_MS = 2 ** 31 - 1;

/** An agent with files and a shell, whose calls somebody is asked about. */
export function makeAgent(
  settings: AgentSettings,
  model: ModelAdapter,
  journal: SessionJournal,
  surroundings: AgentSurroundings,
): AgentApi {
  const logger = warnLogger(surroundings.warn);
  const { contextTokens, maxTokens, skillsDir } = settings;
  const { middlewares = [], observers = [] } = surroundings;
  return new Agent(model, {
    agentId: surroundings.agentId,
    systemPrompt: settings.systemPrompt ?? SYSTEM_PROMPT,
    handlers: makeHandlers(settings, surroundings, logger),
    // Calls that could not run are turned back before anybody is asked about them.
    middlewares: [...middlewares, new ToolSchemaValidationMiddleware(), policyOf(settings, surroundings, logger)],
    observers,
    runtimePolicy: {
      maxSteps: settings.maxSteps,
      parallelToolCalls: true,
      ...(maxTokens !== undefined && { budget: { maxTotalTokens: maxTokens } }),
    },
    ...(skillsDir !== undefined && { skillsDir }),
    session: journal,
    context: contextOptions(model, contextTokens),
    sinks: [{ emit: surroundings.onEvent }],
    logger,
  });
}

function makeHandlers(
  { cwd, mcpFile }: AgentSettings,
  { mcpServers = {} }: AgentSurroundings,
  logger: HarnessLogger,
): ToolHandler[] {
  const handlers: ToolHandler[] = [new FileTools({ root: cwd }), new ShellTool({ cwd })];
  if (mcpFile !== undefined) handlers.push(new McpToolHandler(mcpFile, { logger }));
  if (Object.keys(mcpServers).length > 0) handlers.push(new McpToolHandler({ mcpServers }, { logger }));
  return handlers;
}

function policyOf(
  { allowed }: AgentSettings,
  { askApproval, approver, permissions }: AgentSurroundings,
  logger: HarnessLogger,
): ToolPolicyMiddleware {
  const asked = approver ?? (askApproval && approverOf(new Approvals(askApproval)));
  const now = permissions ?? ((): Permissions => ({ allowed, isDenied: false }));
  const allow: ToolPolicyRule = {
    ruleId: 'allowed',
    action: 'allow',
    when: ({ tool }) => isAllowed(tool, now().allowed),
  };
  const deny: ToolPolicyRule = {
    ruleId: 'mode',
    action: 'deny',
    reason: 'the mode of this session does not allow it',
    when: () => now().isDenied,
  };
  const policy = new RuleBasedToolPolicy([allow, deny], {
    defaultAction: asked === undefined ? 'deny' : 'require_approval',
    ...(asked === undefined && { defaultReason: 'not allowed in this run (--allow), and nobody can be asked' }),
  });
  return new ToolPolicyMiddleware(policy, {
    // A person who says no to one call wants the task done in another way.
    denial: 'tell_model',
    approvalTimeoutMs: APPROVAL_TIMEOUT_MS,
    logger,
    ...(asked !== undefined && { approver: asked }),
  });
}

function approverOf(approvals: Approvals): ToolApprover {
  return {
    approve: ({ callId, toolName, arguments: values }, signal) =>
      approvals.decide({ callId, toolName, arguments: values, signal }),
  };
}
