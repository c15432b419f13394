import { TOOL_CONTROLS } from '../enums.js';
import { StepOutcome } from './step-outcome.js';
import type { SupervisedWork } from './supervised-work.js';
import type { ToolCallContext, ToolMiddleware, ToolNext } from './tool-handler.js';
import { ToolRuntimeError } from './tool-runtime-error.js';

/** A link as the harness sees it: middlewares can replace the context, but not the work that a call belongs to. */
export type ToolLink = (context: ToolCallContext, work: SupervisedWork) => Promise<StepOutcome>;

/** The chain that every call goes through: the first middleware is the outermost, `call` the innermost. */
export function buildChain(middlewares: readonly ToolMiddleware[], call: ToolLink): ToolLink {
  return middlewares.reduceRight<ToolLink>(
    (next, middleware) => (context, work) => pass(middleware, context, (changed) => next(changed, work)),
    call,
  );
}

/** What a handler gave back, as an outcome. @throws ToolRuntimeError for a control that does not exist. */
export function outcomeOf(data: unknown): StepOutcome {
  if (!(data instanceof StepOutcome)) return new StepOutcome(data);
  if (TOOL_CONTROLS.includes(data.control)) return data;
  throw new ToolRuntimeError('invalid_outcome', 'the tool gave back a control that does not exist');
}

/**
 * Runs one link. Its `next` works once, and only until the link has ended: a second use would run the tool again, a
 * late one would run it after its result was told.
 */
async function pass(middleware: ToolMiddleware, context: ToolCallContext, next: ToolNext): Promise<StepOutcome> {
  let uses = 0;
  let ended = false;
  const once: ToolNext = (changed) => {
    uses += 1;
    const result = uses === 1 && !ended ? next(changed) : Promise.reject(misuse());
    // A link that does not await it must not end the process with an unhandled rejection.
    result.catch(() => undefined);
    return result;
  };
  try {
    const outcome: unknown = await middleware.handle(context, once);
    if (uses > 1) throw misuse();
    if (outcome instanceof StepOutcome) return outcomeOf(outcome);
    throw new ToolRuntimeError('invalid_outcome', 'a tool middleware gave back no StepOutcome');
  } finally {
    ended = true;
  }
}

function misuse(): ToolRuntimeError {
  return new ToolRuntimeError('middleware_misuse', 'a tool middleware may call next only once');
}
