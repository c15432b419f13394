import { AppError } from '@parley/service-kit';
import type { TaskOutcome, TaskReporter, TaskRequest } from '../a2a/task-executor.js';
import type { CallReservation } from '../agreements/index.js';
import type { InvokeRequest } from '../wire/agreement.js';

/** Nobody follows a call: its answer is all that is heard of it. */
export const UNHEARD: TaskReporter = { working: () => undefined, artifact: () => undefined };

/** A call as the task that it is: one described piece of work, with the agreed parameters, in a context of its own. */
export function taskOfCall(
  { agreement_id: agreementId, call_id: callId, capability, input }: InvokeRequest,
  { applied, termsDigest }: Pick<CallReservation, 'applied' | 'termsDigest'>,
  signal: AbortSignal,
): TaskRequest {
  return {
    taskId: callId,
    contextId: `${agreementId}/${callId}`,
    messageId: callId,
    parts: [{ kind: 'data', data: { input }, mediaType: 'application/json' }],
    capability,
    parameters: applied,
    agreement: { agreementId, termsDigest },
    hops: 0,
    isFollowUp: false,
    standsAlone: true,
    signal,
  };
}

/**
 * The answer of a call.
 * @throws AppError for a task that did not end with one: nothing can be asked back, and half of it is no answer.
 */
export function outputOf({ state, text, output }: TaskOutcome): Readonly<Record<string, unknown>> {
  switch (state) {
    case 'completed':
      if (output === undefined) throw notDone('The work gave no answer.');
      return output;
    case 'input_required':
      throw new AppError('invalid_request', text ?? 'Something is missing.');
    case 'rejected':
      throw new AppError('failed_precondition', text ?? 'This is not done here.', { code: 'capability_not_callable' });
    case 'failed':
      throw notDone(text ?? 'The work was not completed.');
  }
}

function notDone(message: string): AppError {
  return new AppError('unavailable', message, { code: 'work_failed' });
}
