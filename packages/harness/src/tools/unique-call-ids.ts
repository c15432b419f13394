import type { AssistantMessage, ToolCall } from '../messages.js';

/**
 * The message with an id of its own for every call: providers refuse a history that holds an id twice, and some models
 * send the same one again, or none. To be used before the message is stored, so that history, journal and events agree.
 *
 * @param newId A new id each time.
 * @param isTaken Whether an earlier message of the history has the id. Default: none has.
 * @returns The same object if nothing had to change.
 */
export function withUniqueCallIds(
  message: AssistantMessage,
  newId: () => string,
  isTaken: (id: string) => boolean = () => false,
): AssistantMessage {
  const seen = new Set<string>();
  const toolCalls = message.toolCalls.map((call): ToolCall => {
    const isFree = call.id !== '' && !seen.has(call.id) && !isTaken(call.id);
    const id = isFree ? call.id : newId();
    seen.add(id);
    return isFree ? call : { ...call, id };
  });
  const isSame = toolCalls.every((call, index) => call === message.toolCalls[index]);
  return isSame ? message : { ...message, toolCalls };
}
