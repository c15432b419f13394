import type { AgentCard, ListTasksRequest, Message, SendMessageRequest } from '@a2a-js/sdk';
import {
  ContentTypeNotSupportedError,
  ExtensionSupportRequiredError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
} from '@a2a-js/sdk/errors';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { isKnownState } from './task-states.js';

const MAX_PAGE_SIZE = 100;
/** Ids of clients end up in stores and logs. */
const MAX_ID_LENGTH = 256;

/** What a message must be before anything is done for it, whatever wire it came by. */
export function checkSend(request: SendMessageRequest, card: AgentCard, context: ServerCallContext): Message {
  const { message, configuration } = request;
  if (message === undefined) throw new RequestMalformedError('message is required');
  if (message.messageId === '') throw new RequestMalformedError('message.messageId is required');
  for (const name of ['messageId', 'taskId', 'contextId'] as const) {
    if (message[name].length > MAX_ID_LENGTH) {
      throw new RequestMalformedError(`message.${name} must have at most ${String(MAX_ID_LENGTH)} characters`);
    }
  }
  if (message.parts.length === 0) throw new RequestMalformedError('message.parts must not be empty');
  checkHistoryLength(configuration?.historyLength);
  checkExtensions(card, context);
  checkInputModes(message, card);
  if (configuration?.taskPushNotificationConfig !== undefined && card.capabilities?.pushNotifications !== true) {
    throw new PushNotificationNotSupportedError();
  }
  return message;
}

export function checkHistoryLength(length: number | undefined): void {
  if (length !== undefined && (!Number.isInteger(length) || length < 0)) {
    throw new RequestMalformedError('historyLength must be a whole number, 0 or more');
  }
}

export function checkTaskId(id: string): void {
  if (id.trim() === '') throw new RequestMalformedError('The id of the task is required');
}

export function checkList(request: ListTasksRequest): void {
  const { pageSize, status, statusTimestampAfter, historyLength } = request;
  if (pageSize !== undefined && (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE_SIZE)) {
    throw new RequestMalformedError(`pageSize must be between 1 and ${String(MAX_PAGE_SIZE)}`);
  }
  // A client without types may leave it out.
  if ((status as unknown) !== undefined && !isKnownState(status)) {
    throw new RequestMalformedError('status must be a state of a task');
  }
  if (statusTimestampAfter !== undefined && Number.isNaN(Date.parse(statusTimestampAfter))) {
    throw new RequestMalformedError('statusTimestampAfter must be a time in ISO 8601');
  }
  checkHistoryLength(historyLength);
}

/** An executor sees the extensions that both sides know. */
function checkExtensions(card: AgentCard, context: ServerCallContext): void {
  const known = card.capabilities?.extensions ?? [];
  const requested = new Set(context.requestedExtensions ?? []);
  const missing = known.filter(({ required, uri }) => required && !requested.has(uri)).map(({ uri }) => uri);
  if (missing.length > 0) {
    throw new ExtensionSupportRequiredError(`The agent is only used with these extensions: ${missing.join(', ')}`);
  }
  if (requested.size > 0) {
    const uris = new Set(known.map(({ uri }) => uri));
    context.setRequestedExtensions([...requested].filter((uri) => uris.has(uri)));
  }
}

function checkInputModes(message: Message, card: AgentCard): void {
  if (card.defaultInputModes.length === 0 || message.parts.every(({ mediaType }) => mediaType === '')) return;
  const modes = new Set([...card.defaultInputModes, ...card.skills.flatMap(({ inputModes }) => inputModes)]);
  for (const { mediaType } of message.parts) {
    if (!isAccepted(mediaType, modes)) {
      throw new ContentTypeNotSupportedError(
        `The media type ${mediaType} is not supported; supported are ${[...modes].join(', ')}.`,
      );
    }
  }
}

function isAccepted(mediaType: string, modes: ReadonlySet<string>): boolean {
  const bare = mediaType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (bare === '' || modes.has(bare)) return true;
  return modes.has('*/*') || modes.has(`${bare.split('/')[0] ?? ''}/*`);
}
