import { explicitFinishReminder } from '../context/context-texts.js';
import type { AssistantMessage } from '../messages.js';
import type { FinishReason, ModelResponse } from '../model/model-adapter.js';
import { withUniqueCallIds } from '../tools/unique-call-ids.js';
import { checkBudget } from './budget-guard.js';
import { askHooks } from './hooks.js';
import { askModel } from './model-phase.js';
import type { Run } from './run.js';
import { completedWith, endingOfError, failedWith, type RunEnding } from './run-ending.js';
import { contentFiltered, toolPhase } from './tool-phase.js';

/** A turn that ended the run, or the answer after which it may go on. */
type TurnOutcome =
  | { readonly kind: 'ended'; readonly ending: RunEnding }
  | { readonly kind: 'open'; readonly message: AssistantMessage };

/** Turn after turn, until one of them, a hook or a limit ends the run. Never rejects. */
export async function runLoop(run: Run): Promise<RunEnding> {
  const { policy, agentId } = run.services;
  try {
    while (run.turn < policy.maxSteps) {
      run.throwIfAborted();
      const spent = checkBudget(run.budget, run.usage);
      if (spent !== null) return spent;
      const outcome = await runTurn(run);
      if (outcome.kind === 'ended') return outcome.ending;
      const stop = await askHooks(run, outcome.message);
      if (stop !== null) return stop;
    }
    run.throwIfAborted();
    return failedWith('max_steps', `agent '${agentId}' did not finish within ${String(policy.maxSteps)} steps`);
  } catch (error) {
    return endingOfError(error, run.signal);
  }
}

/** One request and what it asks for. `turn_completed` comes in any case. */
async function runTurn(run: Run): Promise<TurnOutcome> {
  run.turn += 1;
  await run.emit({ kind: 'turn_started', turn: run.turn });
  const outcome = await takeTurn(run);
  // Nothing could still be applied: it is better to hear that at once than to be discarded.
  if (outcome.kind === 'ended') run.steering.close();
  await run.emit({ kind: 'turn_completed', turn: run.turn });
  return outcome;
}

async function takeTurn(run: Run): Promise<TurnOutcome> {
  try {
    const response = await askModel(run);
    const message = await commitAnswer(run, response);
    const ending =
      message.toolCalls.length > 0
        ? await toolPhase(run, message, response.finishReason)
        : textPhase(run, message, response.finishReason);
    return ending === null ? { kind: 'open', message } : { kind: 'ended', ending };
  } catch (error) {
    return { kind: 'ended', ending: withPartialText(run, endingOfError(error, run.signal)) };
  }
}

async function commitAnswer(run: Run, response: ModelResponse): Promise<AssistantMessage> {
  const { history, services } = run;
  // Some models number their calls anew in every answer; a history with an id twice is refused by providers.
  const newCallId = (): string => `call_${services.newId()}`;
  const message = withUniqueCallIds(response.message, newCallId, (id) => history.hasCallId(id));
  await run.ledger.assistant(message);
  run.partialText = '';
  const { finishReason, usage = null } = response;
  await run.emit({ kind: 'message_completed', turn: run.turn, message, usage, finishReason });
  return message;
}

/** What an answer without calls means for the run. */
function textPhase(run: Run, message: AssistantMessage, finishReason: FinishReason): RunEnding | null {
  run.throwIfAborted();
  const text = message.content ?? '';
  if (finishReason === 'content_filter') return contentFiltered(message);
  if (finishReason === 'length') return outputTruncated(text);
  if (!run.steering.isEmpty()) return null;
  if (run.services.policy.requireExplicitFinish) return remindOfFinish(run);
  if (text === '') return failedWith('empty_response', 'the model answered with neither text nor a tool call');
  return completedWith('text_response', text);
}

/** The cut text stays in the history, so that the run can be continued from it. */
function outputTruncated(text: string): RunEnding {
  const ending = failedWith('output_truncated', 'the answer was cut off at the output limit of the model');
  return text === '' ? ending : { ...ending, partial: text };
}

function remindOfFinish(run: Run): RunEnding | null {
  const { maxNoToolResponses } = run.services.policy;
  run.noToolAnswers += 1;
  if (run.noToolAnswers < maxNoToolResponses) {
    run.reminder = explicitFinishReminder(run.noToolAnswers, maxNoToolResponses);
    return null;
  }
  const times = `${String(maxNoToolResponses)} time(s) in a row`;
  return failedWith('max_no_tool_responses', `a tool has to finish the run, but the model called none ${times}`);
}

function withPartialText(run: Run, ending: RunEnding): RunEnding {
  return run.partialText === '' ? ending : { ...ending, partial: run.partialText };
}
