import {
  Agent,
  type AgentApi,
  type AgentEvent,
  type HarnessLogger,
  McpToolHandler,
  type ModelAdapter,
  RuleBasedToolPolicy,
  type SessionJournal,
  type ToolApprover,
  type ToolHandler,
  ToolPolicyMiddleware,
  type ToolPolicyRule,
  ToolSchemaValidationMiddleware,
} from '@parley/harness';
import { FileTools, ShellTool } from '@parley/harness/tools';
import type { AgentSettings } from '../run-settings.js';
import { contextOptions } from './context-options.js';
import { Approvals, type AskApproval, isAllowed } from './approvals.js';

/** Where an agent's events and questions go. */
export interface AgentSurroundings {
  readonly agentId: string;
  readonly onEvent: (event: AgentEvent) => Promise<void> | void;
  /** Undefined if nobody can be asked: what is not allowed is denied then. */
  readonly askApproval: AskApproval | undefined;
  readonly warn: (message: string) => void;
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
  const logger = loggerTo(surroundings.warn);
  const { contextTokens, maxTokens, skillsDir } = settings;
  return new Agent(model, {
    agentId: surroundings.agentId,
    systemPrompt: settings.systemPrompt ?? SYSTEM_PROMPT,
    handlers: makeHandlers(settings, logger),
    // Calls that could not run are turned back before anybody is asked about them.
    middlewares: [new ToolSchemaValidationMiddleware(), policyOf(settings, surroundings, logger)],
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

function makeHandlers({ cwd, mcpFile }: AgentSettings, logger: HarnessLogger): ToolHandler[] {
  const handlers: ToolHandler[] = [new FileTools({ root: cwd }), new ShellTool({ cwd })];
  if (mcpFile !== undefined) handlers.push(new McpToolHandler(mcpFile, { logger }));
  return handlers;
}

function policyOf(
  { allowed }: AgentSettings,
  { askApproval }: AgentSurroundings,
  logger: HarnessLogger,
): ToolPolicyMiddleware {
  const rule: ToolPolicyRule = { ruleId: 'allowed', action: 'allow', when: ({ tool }) => isAllowed(tool, allowed) };
  const policy = new RuleBasedToolPolicy([rule], {
    defaultAction: askApproval === undefined ? 'deny' : 'require_approval',
    ...(askApproval === undefined && { defaultReason: 'not allowed in this run (--allow), and nobody can be asked' }),
  });
  return new ToolPolicyMiddleware(policy, {
    // A person who says no to one call wants the task done in another way.
    denial: 'tell_model',
    approvalTimeoutMs: APPROVAL_TIMEOUT_MS,
    logger,
    ...(askApproval !== undefined && { approver: approverOf(new Approvals(askApproval)) }),
  });
}

function approverOf(approvals: Approvals): ToolApprover {
  return {
    approve: ({ callId, toolName, arguments: values }, signal) =>
      approvals.decide({ callId, toolName, arguments: values, signal }),
  };
}

function loggerTo(warn: (message: string) => void): HarnessLogger {
  return {
    warn: (message, details) => warn(details === undefined ? message : `${message} ${JSON.stringify(details)}`),
  };
}
