import type { BehaviorDecision, BehaviorHook, TurnSnapshot } from '../agent/agent-options.js';
import { BEHAVIOR_ACTIONS } from '../enums.js';
import { messageOf } from '../errors.js';
import type { AssistantMessage, Message } from '../messages.js';
import { abortable } from '../model/abortable.js';
import type { Run } from './run.js';
import { completedWith, type RunEnding } from './run-ending.js';
import { BehaviorHookError } from './run-errors.js';

/**
 * Asks the hooks in order whether the run may go on; the first `stop` ends it.
 *
 * @throws BehaviorHookError, also at once if the run is aborted meanwhile.
 */
export async function askHooks(run: Run, message: AssistantMessage): Promise<RunEnding | null> {
  const { hooks } = run.services;
  if (hooks.length === 0) return null;
  run.throwIfAborted();
  const snapshot = snapshotOf(run, message);
  for (const [index, hook] of hooks.entries()) {
    const decision = await ask(run, hook, snapshot, index);
    if (decision?.action === 'stop') return completedWith('behavior_stop', decision.output ?? message.content);
  }
  return null;
}

async function ask(
  run: Run,
  hook: BehaviorHook,
  snapshot: TurnSnapshot,
  index: number,
): Promise<BehaviorDecision | undefined> {
  let decision: unknown;
  try {
    // A hook may be an ordinary function that throws before it gives a promise back.
    decision = await abortable((async () => hook.afterTurn(snapshot, run.signal))(), run.signal);
  } catch (error) {
    throw new BehaviorHookError(`${nameOf(hook, index)} failed: ${messageOf(error)}`, { cause: error });
  }
  if (decision === undefined || decision === null) return undefined;
  if (isDecision(decision)) return decision;
  throw new BehaviorHookError(`${nameOf(hook, index)} gave something that is no decision`);
}

function isDecision(value: unknown): value is BehaviorDecision {
  if (typeof value !== 'object' || value === null) return false;
  const { action, output } = value as { readonly action?: unknown; readonly output?: unknown };
  return BEHAVIOR_ACTIONS.some((known) => known === action) && (output === undefined || typeof output === 'string');
}

function nameOf(hook: BehaviorHook, index: number): string {
  const name = hook.constructor.name;
  return name === 'Object' ? `behavior hook ${String(index + 1)}` : `behavior hook '${name}'`;
}

/** The history is copied for the hook that looks at it: most do not, and histories are long. */
function snapshotOf(run: Run, message: AssistantMessage): TurnSnapshot {
  const { messages, length } = run.history;
  const results = messages.slice(length - message.toolCalls.length);
  return {
    agentId: run.agentId,
    runId: run.runId,
    turn: run.turn,
    message,
    toolMessages: results.filter((result) => result.role === 'tool'),
    get history(): readonly Message[] {
      return messages.slice(0, length);
    },
  };
}
