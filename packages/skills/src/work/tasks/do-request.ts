import type { Scalar, Skill, TaskOutcome } from '@parley/agent';
import { ToolSchemaValidationMiddleware, type AgentRunResult, type ToolHandler } from '@parley/harness';
import { type AppError } from '@parley/service-kit';
import { describeRun, notCompleted, requireCompleted, runHarness } from '../harness-run.js';
import { agentPrompt } from './agent-prompt.js';
import { DelegateTool, nameOf } from './delegate-tool.js';
import type { PendingQuestion } from './pending-question.js';
import { QuestionTools } from './question-tools.js';
import type { ReadParts } from './read-parts.js';
import { readRequest } from './read-request.js';
import { sessionsOf } from './sessions-of.js';
import { SkillTools } from './skill-tools.js';
import { showPart, writeTaskMessage, type TaskMessage } from './task-message.js';
import type { Turn, TurnTools } from './turn.js';

/** A piece of work for others, as it was described. */
export interface Delegation {
  readonly capability: string;
  readonly parameters: Readonly<Record<string, Scalar>>;
  readonly input: unknown;
}

/** A task in words: what the words ask for, on what came with them. */
export async function doRequest(
  tools: TurnTools,
  turn: Turn,
  parts: ReadParts,
  pending: PendingQuestion | undefined,
): Promise<TaskOutcome> {
  const { request, context } = turn;
  const { materials } = context;
  const { words, materials: brought } = readRequest(request, parts, {
    capabilities: tools.skills.map(({ capability }) => capability),
    missing: pending?.missing,
    newName: () => materials.nextTextName(),
  });
  if (words === '' && brought.length === 0) return nothingToDo(turn, parts, pending);
  const earlier = materials.names;
  for (const material of brought) materials.add(material);
  const message = {
    request: words,
    parts: brought.map(showPart),
    earlier_parts: earlier.slice(-20),
    ...(parts.unreadable.length === 0 ? {} : { unreadable: parts.unreadable }),
  };
  return run(tools, turn, message, undefined);
}

/** A described piece of work that is another agent's to do: the same run, with nothing left to choose. */
export function runDelegation(tools: TurnTools, turn: Turn, delegation: Delegation): Promise<TaskOutcome> {
  return run(tools, turn, { request: '', input_is_given: true, parts: [], earlier_parts: [] }, delegation);
}

/** What was asked before is asked again; without a question there was nothing in the message. */
function nothingToDo({ request, context }: Turn, parts: ReadParts, pending: PendingQuestion | undefined): TaskOutcome {
  context.ask(request.taskId, pending ?? { missing: 'text' });
  const text = [...parts.unreadable, 'What shall I do, and with which text? Please send it.'].join(' ');
  return { state: 'input_required', text };
}

type MessageDraft = Omit<TaskMessage, 'task_id' | 'follow_up' | 'capability' | 'agreed_parameters'>;

async function run(
  tools: TurnTools,
  turn: Turn,
  { request: words, ...draft }: MessageDraft,
  delegation: Delegation | undefined,
): Promise<TaskOutcome> {
  const { skills, options } = tools;
  const { request, context, ledger } = turn;
  const capability = delegation?.capability ?? request.capability;
  const offered = capability === undefined ? skills : skills.filter((skill) => skill.capability === nameOf(capability));
  const delegate = capability === undefined || offered.length === 0 ? options.delegate : undefined;
  const task = writeTaskMessage({
    request: words,
    task_id: request.taskId,
    follow_up: request.isFollowUp,
    ...(capability === undefined ? {} : { capability: nameOf(capability) }),
    agreed_parameters: delegation?.parameters ?? request.parameters,
    ...draft,
  });
  const result = await runHarness(
    {
      systemPrompt: agentPrompt(options.agentId, offered, delegate !== undefined),
      task,
      handlers: handlersFor(tools, turn, offered, delegation),
      middlewares: [new ToolSchemaValidationMiddleware(options.logger === undefined ? {} : { logger: options.logger })],
      contextId: request.contextId,
      signal: request.signal,
    },
    { ...options, sessions: sessionsOf(options, context) },
  );
  request.signal.throwIfAborted();
  context.said += task.length + ledger.given + (result.output?.length ?? 0);
  const outcome = outcomeOf(turn, result, capability);
  return { ...outcome, metadata: { run: describeRun(result, options.model) } };
}

function handlersFor(
  { skills, options: { delegate } }: TurnTools,
  { request, ledger }: Turn,
  offered: readonly Skill[],
  delegation: Delegation | undefined,
): ToolHandler[] {
  const capability = delegation?.capability ?? request.capability;
  const { parameters, contextId, hops } = request;
  const own = new SkillTools(offered, { fixed: parameters, ledger, contextId });
  const questions = new QuestionTools(ledger);
  if (delegate === undefined || (capability !== undefined && offered.length > 0)) return [own, questions];
  const only = delegation ?? (capability === undefined ? undefined : { capability, parameters });
  const ownCapabilities = skills.map((skill) => skill.capability);
  return [own, new DelegateTool({ delegate, ledger, hops, ownCapabilities, ...(only && { only }) }), questions];
}

function outcomeOf(turn: Turn, result: AgentRunResult, capability: string | undefined): TaskOutcome {
  const { request, context, ledger } = turn;
  const { question, refusal, failures, done } = ledger;
  if (question !== undefined) {
    context.ask(request.taskId, { missing: question.missing });
    return { state: 'input_required', text: question.text };
  }
  if (refusal !== undefined) return { state: 'rejected', text: refusal };
  const [first] = failures.values();
  if (first !== undefined && done.size === 0) throw first;
  requireCompleted(result);
  if (failures.size > 0) return { state: 'failed', text: describeFailures(done, failures) };
  if (capability !== undefined && !done.has(nameOf(capability)))
    throw notCompleted(result, 'the capability was not used');
  return { state: 'completed', ...(result.output === null ? {} : { text: result.output }) };
}

function describeFailures(done: ReadonlySet<string>, failures: ReadonlyMap<string, AppError>): string {
  const missing = [...failures].map(([capability, error]) => `${capability} failed: ${error.message}`);
  return `Done: ${[...done].join(', ')}. Not done: ${missing.join(' ')}`;
}
