import { randomUUID } from 'node:crypto';
import type { Skill, TaskExecutor, TaskOutcome, TaskReporter, TaskRequest } from '@parley/agent';
import { MemorySessionStorage } from '@parley/harness';
import { Contexts, LivingContext } from './contexts.js';
import { nameOf } from './delegate-tool.js';
import { doOrder } from './do-order.js';
import { doRequest } from './do-request.js';
import { orderOf } from './order-of.js';
import { readParts } from './read-parts.js';
import { restoreContext } from './restore-context.js';
import { TurnLedger } from './turn-ledger.js';
import type { TaskExecutorOptions, Turn, TurnTools } from './turn.js';

/**
 * Does the tasks of an agent: one harness run for each turn, one session for each context, turns of one context one
 * after the other.
 *
 * A task in words is planned by the model, with each skill as a tool and, where `delegate` is given, one that asks other
 * agents. A data part `{input}` or `{capability, input, parameters}` is exactly that piece of work, and a call by
 * `/invoke` comes as one: its outcome has the `output` of the skill, with `run` beside it, and with the model's own words
 * as `answer` where a model is behind it. Every deliverable is an artifact of its own as soon as it is there: a report (text/markdown) and the
 * output of the skill (application/json).
 *
 * Ends `input_required` with a question if something is missing, `rejected` for a capability that nobody has or
 * parameters that were not agreed on, `failed` if a part of several was not done.
 *
 * @throws AppError what a skill or a partner threw if nothing was done; `unavailable` with code `work_failed` for a run
 * that did not complete and `journal_unavailable` for one that cannot be recorded; `too_many_requests` with code
 * `context_busy`. For an aborted signal its reason.
 */
export function createTaskExecutor(skills: readonly Skill[], options: TaskExecutorOptions): TaskExecutor {
  const contexts = new Contexts({ ...options.contexts, newSessions: () => new MemorySessionStorage() });
  const tools: TurnTools = { skills, options };
  return {
    execute: (request, reporter) => {
      // A context of one piece of work would push out those that are gone on with.
      if (request.standsAlone === true) return doAlone(tools, request, reporter);
      return contexts.run(request.contextId, request.signal, (context) => doTurn(tools, context, request, reporter));
    },
  };
}

async function doAlone(tools: TurnTools, request: TaskRequest, reporter: TaskReporter): Promise<TaskOutcome> {
  const context = new LivingContext(new MemorySessionStorage());
  context.isRestored = true;
  return doTurn(tools, context, request, reporter);
}

async function doTurn(
  tools: TurnTools,
  context: LivingContext,
  request: TaskRequest,
  reporter: TaskReporter,
): Promise<TaskOutcome> {
  const { agentId, newId = randomUUID } = tools.options;
  const ledger = new TurnLedger({ agentId, reporter, materials: context.materials, newId });
  const turn: Turn = { request, context, ledger };
  try {
    await remember(tools, turn);
    return await outcomeOf(tools, turn);
  } catch (error) {
    // Whatever an aborted turn throws is no more than a trace of its abort.
    request.signal.throwIfAborted();
    throw error;
  }
}

async function remember({ options: { sessions } }: TurnTools, { context, request }: Turn): Promise<void> {
  if (sessions !== undefined && !context.isRestored) await restoreContext(context, sessions, request.contextId);
  context.isRestored = true;
}

function outcomeOf(tools: TurnTools, turn: Turn): Promise<TaskOutcome> {
  const { request, context } = turn;
  const pending = request.isFollowUp ? context.takePending(request.taskId) : undefined;
  const parts = readParts(request.parts);
  const order = orderOf(parts, pending, tools.skills);
  const capability = request.capability ?? order?.capability;
  const refusal = capability === undefined ? undefined : refusalOf(tools, nameOf(capability));
  if (refusal !== undefined) return Promise.resolve({ state: 'rejected', text: refusal });
  if (order !== undefined) return doOrder(tools, turn, order);
  return doRequest(tools, turn, parts, pending);
}

function refusalOf({ skills, options }: TurnTools, capability: string): string | undefined {
  const own = skills.map((skill) => skill.capability);
  if (own.includes(capability) || options.delegate !== undefined) return undefined;
  return `${options.agentId} cannot do ${capability}, and asks no other agents. It can do: ${own.join(', ') || 'nothing'}.`;
}
