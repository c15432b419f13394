import type { CompactionPreparation } from '../context/compaction-types.js';
import type { CompactionTrigger } from '../enums.js';
import type { Message } from '../messages.js';
import type { ModelResponse } from '../model/model-adapter.js';
import { ContextOverflowError } from '../model/model-errors.js';
import { compactHistory } from './compact-history.js';
import { requestModel } from './model-request.js';
import type { Run } from './run.js';
import { CompactionFailedError } from './run-errors.js';

/** What was tried in this turn already; nothing is tried twice, so that an overflow cannot go on for ever. */
interface Attempts {
  onPressure: boolean;
  onOverflow: boolean;
}

/** From the history to a complete answer, which is not committed yet. */
export async function askModel(run: Run): Promise<ModelResponse> {
  const attempts: Attempts = { onPressure: false, onOverflow: false };
  for (;;) {
    const messages = await prepareRequest(run, attempts);
    try {
      const response = await requestModel(run, messages);
      run.reminder = null;
      return response;
    } catch (error) {
      if (!(await madeRoom(run, attempts, error))) throw error;
    }
  }
}

/** The messages of a request that holds all steering and fits, as far as that can be known. */
async function prepareRequest(run: Run, attempts: Attempts): Promise<readonly Message[]> {
  for (;;) {
    await applySteering(run);
    run.throwIfAborted();
    const messages = buildContext(run);
    const cut = await evaluatePressure(run, messages);
    // Sinks were awaited meanwhile, and may have steered.
    if (!run.steering.isEmpty()) continue;
    if (cut === null || attempts.onPressure) return messages;
    attempts.onPressure = true;
    const changed = await compact(run, 'pressure', cut);
    if (!changed && run.steering.isEmpty()) return messages;
  }
}

/** Applied steering is a user message; what an abort or a failure leaves in the queue is discarded at the end. */
async function applySteering(run: Run): Promise<void> {
  for (let control = run.steering.oldest; control !== undefined; control = run.steering.oldest) {
    run.throwIfAborted();
    await run.ledger.steering(control, run.turn);
    run.steering.removeOldest();
    run.noToolAnswers = 0;
    run.reminder = null;
    run.activeSkill = run.services.skills?.select(control.content)?.text ?? run.activeSkill;
    await run.emit({ kind: 'steering_applied', control, targetTurn: run.turn });
  }
}

function buildContext(run: Run): readonly Message[] {
  const { contextBuilder, skills, tools } = run.services;
  return contextBuilder.build({
    history: run.history.messages,
    tools: tools.definitions,
    skillIndex: skills?.indexText ?? null,
    activeSkill: run.activeSkill,
    reminder: run.reminder,
  });
}

/** Tells how full the window is; the cut to make if it is to be made now. */
async function evaluatePressure(run: Run, messages: readonly Message[]): Promise<CompactionPreparation | null> {
  const { pressure, compactor, tools } = run.services;
  if (pressure === null) return null;
  const decision = pressure.evaluate(messages, tools.definitions);
  const preparation = decision.shouldCompact ? pressure.prepare(run.history.messages, 'pressure') : null;
  await run.emit({ kind: 'context_pressure_evaluated', turn: run.turn, decision, preparation });
  return pressure.compactsOnPressure && compactor !== null ? preparation : null;
}

/** Whether the request can be sent again, shorter. */
async function madeRoom(run: Run, attempts: Attempts, error: unknown): Promise<boolean> {
  const { pressure, compactor } = run.services;
  if (!(error instanceof ContextOverflowError) || attempts.onOverflow) return false;
  if (run.answerShown || run.signal.aborted) return false;
  if (pressure === null || compactor === null || !pressure.compactsOnOverflow) return false;
  attempts.onOverflow = true;
  return compact(run, 'overflow', pressure.prepare(run.history.messages, 'overflow'));
}

/** True if the history is shorter now. @throws CompactionFailedError, RecordingFailedError or the abort reason. */
async function compact(run: Run, trigger: CompactionTrigger, preparation: CompactionPreparation): Promise<boolean> {
  const { compactor } = run.services;
  if (compactor === null) return false;
  const { events, ledger, signal } = run;
  const result = await compactHistory({ compactor, events, ledger, signal }, trigger, preparation);
  if (ledger.failure !== null) throw ledger.failure;
  run.throwIfAborted();
  if (result.status === 'failed') throw new CompactionFailedError(result.error ?? 'the history could not be compacted');
  return result.status === 'completed';
}
