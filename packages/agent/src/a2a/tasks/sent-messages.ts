import type { Message, SendMessageRequest, Task } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { checkSend } from './check-request.js';
import type { EngineParts, SentMessage } from './engine-parts.js';
import { AGREEMENT_EXTENSION } from '../agreement/agreement-extension.js';
import type { MessagePlace } from './message-memory.js';
import { openTurn } from './open-turn.js';
import type { TaskTurn } from './task-turn.js';
import { isTask } from './turn-events.js';
import { quiet } from './quiet.js';

/** Answers without a task that have more text than this are not kept for a message that is sent again. */
const MAX_KEPT_CHARACTERS = 16_384;

/** What a message leads to: a turn that goes on, or what became of one that is over. */
export type Outcome =
  | { readonly kind: 'begins'; readonly turn: TaskTurn }
  | { readonly kind: 'goes on'; readonly turn: TaskTurn }
  | { readonly kind: 'over'; readonly answer: Message | Task };

/** A message that was sent before leads to what the first one led to, whether that is going on or over. */
export async function outcomeOf(
  parts: EngineParts,
  request: SendMessageRequest,
  call: ServerCallContext,
): Promise<Outcome> {
  const message = checkSend(request, parts.card(), call);
  const place = parts.memory.placeOf(message, call);
  const known = place.find();
  if (known !== undefined) {
    await admitAgain(parts, message, call);
    const outcome = await again(parts, known, call);
    if (outcome !== undefined) {
      if (known.usesAgreement) call.addActivatedExtension(AGREEMENT_EXTENSION);
      return outcome;
    }
  }
  return { kind: 'begins', turn: await begin({ parts, request, message, call, place }) };
}

/** Whoever asks again shows the proof again; the same message id costs nothing more. */
async function admitAgain(parts: EngineParts, message: Message, call: ServerCallContext): Promise<void> {
  if (message.metadata?.[AGREEMENT_EXTENSION] === undefined) return;
  const admitted = await parts.gate?.admit(message, call);
  await admitted?.release();
}

async function again(parts: EngineParts, known: SentMessage, call: ServerCallContext): Promise<Outcome | undefined> {
  const { message, opening } = known;
  if (message !== undefined) return { kind: 'over', answer: message };
  if (opening !== undefined) {
    const turn = await opening;
    if (known.taskId === undefined) return { kind: 'goes on', turn };
  }
  const task = known.taskId === undefined ? undefined : await parts.store.load(known.taskId, call);
  return task === undefined ? undefined : { kind: 'over', answer: parts.slots.turnOf(task.id)?.task ?? task };
}

interface FirstSending {
  readonly parts: EngineParts;
  readonly request: SendMessageRequest;
  readonly message: Message;
  readonly call: ServerCallContext;
  readonly place: MessagePlace<SentMessage>;
}

async function begin({ parts, request, message, call, place }: FirstSending): Promise<TaskTurn> {
  const opened = openTurn(parts, request, message, call);
  const sent: SentMessage = {
    opening: quiet(opened.then(({ turn }) => turn)),
    taskId: undefined,
    message: undefined,
    usesAgreement: false,
  };
  place.keep(sent);
  try {
    const { turn, usesAgreement } = await opened;
    sent.usesAgreement = usesAgreement;
    void keepWhatBecame(place, sent, turn);
    return turn;
  } catch (error) {
    place.forget(sent);
    throw error;
  }
}

/** Once it is over, the store has the task; holding the turn would hold all that it made. */
async function keepWhatBecame(place: MessagePlace<SentMessage>, sent: SentMessage, turn: TaskTurn): Promise<void> {
  await turn.over;
  const answer = await turn.answer.catch(() => undefined);
  if (answer === undefined || !(isTask(answer) || isShort(answer))) {
    place.forget(sent);
    return;
  }
  if (isTask(answer)) sent.taskId = answer.id;
  else sent.message = answer;
  sent.opening = undefined;
}

function isShort({ parts }: Message): boolean {
  let length = 0;
  for (const { content } of parts) {
    if (content !== undefined && content.$case !== 'text') return false;
    length += content?.value.length ?? 0;
  }
  return length <= MAX_KEPT_CHARACTERS;
}
