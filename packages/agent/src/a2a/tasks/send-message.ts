import type { Message, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import { UnsupportedOperationError } from '@a2a-js/sdk/errors';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import type { EngineParts } from './engine-parts.js';
import { outcomeOf } from './sent-messages.js';
import { cutHistory } from './task-changes.js';
import { TaskStream } from './task-stream.js';
import { isTask } from './turn-events.js';

/** Answers when the task has ended or waits for its client, or at once if the request says so. */
export async function sendMessage(
  parts: EngineParts,
  request: SendMessageRequest,
  call: ServerCallContext,
): Promise<Message | Task> {
  const outcome = await outcomeOf(parts, request, call);
  if (outcome.kind === 'begins') outcome.turn.start();
  const answer = outcome.kind === 'over' ? outcome.answer : await answerOf(outcome.turn, request);
  return isTask(answer) ? cutHistory(answer, request.configuration?.historyLength) : answer;
}

async function answerOf(
  turn: { readonly first: Promise<Message | Task>; readonly answer: Promise<Message | Task> },
  request: SendMessageRequest,
): Promise<Message | Task> {
  return await (request.configuration?.returnImmediately === true ? turn.first : turn.answer);
}

/** First the task or the message, then every update, until the task ends or waits for its client. */
export function streamMessage(parts: EngineParts, request: SendMessageRequest, call: ServerCallContext): TaskStream {
  const open = async (stream: TaskStream): Promise<void> => {
    requireStreaming(parts);
    const outcome = await outcomeOf(parts, request, call);
    if (outcome.kind === 'over') {
      stream.send(itemOfAnswer(outcome.answer));
      stream.end();
      return;
    }
    const { turn } = outcome;
    // Both in one go, so that no event falls between the snapshot and those that are sent.
    if (turn.task !== undefined) stream.send(itemOfAnswer(turn.task));
    parts.channels.join(turn.taskId, stream);
    turn.answer.catch((error: unknown) => {
      stream.fail(error);
    });
    if (outcome.kind === 'begins') turn.start();
    void turn.over.then(() => {
      stream.end();
    });
  };
  return new TaskStream(open, ({ payload }) =>
    payload?.$case === 'task'
      ? itemOfAnswer(cutHistory(payload.value, request.configuration?.historyLength))
      : { payload },
  );
}

export function requireStreaming({ card }: EngineParts): void {
  if (card().capabilities?.streaming !== true) throw new UnsupportedOperationError('The agent does not stream.');
}

function itemOfAnswer(answer: Message | Task): StreamResponse {
  return { payload: isTask(answer) ? { $case: 'task', value: answer } : { $case: 'message', value: answer } };
}
