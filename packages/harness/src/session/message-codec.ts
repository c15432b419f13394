import type { JsonObject, JsonValue } from '../json.js';
import type { AssistantMessage, Message, SummaryEntry, ToolCall } from '../messages.js';
import { arrayValue, integerField, objectValue, oneOfField, optionalStringField, stringField } from './json-fields.js';
import { SessionSerializationError } from './session-errors.js';
import { modelUsageFromJson, modelUsageToJson } from './usage-codec.js';

/** Under this key a summary message carries what it stands for. The name belongs to the format. */
const SUMMARY_KEY = '_ejagent_summary';
const ROLES = ['system', 'user', 'assistant', 'tool'] as const;

/** The form of a message in a journal: that of a chat completion, with usage, reasoning and summary beside. */
export function messageToJson(message: Message): JsonObject {
  switch (message.role) {
    case 'user':
      return { content: message.content, role: 'user' };
    case 'tool':
      return { content: message.content, role: 'tool', tool_call_id: message.toolCallId };
    case 'system':
      return {
        ...(message.summary !== undefined && { [SUMMARY_KEY]: summaryToJson(message.summary) }),
        content: message.content,
        role: 'system',
      };
    case 'assistant':
      return assistantToJson(message);
  }
}

function assistantToJson(message: AssistantMessage): JsonObject {
  const { content, reasoning, toolCalls, usage } = message;
  return {
    content,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    role: 'assistant',
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(toolCallToJson) }),
    ...(usage !== undefined && usage !== null && { usage: modelUsageToJson(usage) }),
  };
}

function toolCallToJson(call: ToolCall): JsonObject {
  return { function: { arguments: call.arguments, name: call.name }, id: call.id, type: 'function' };
}

/** Reads a message; fields that it does not know are left out. @throws SessionSerializationError */
export function messageFromJson(value: unknown, label: string): Message {
  const fields = objectValue(value, label);
  switch (oneOfField(fields, 'role', label, ROLES)) {
    case 'user':
      return { role: 'user', content: textOf(fields, label) };
    case 'tool':
      return { role: 'tool', toolCallId: stringField(fields, 'tool_call_id', label), content: textOf(fields, label) };
    case 'system':
      return systemFromJson(fields, label);
    case 'assistant':
      return assistantFromJson(fields, label);
  }
}

function systemFromJson(fields: JsonObject, label: string): Message {
  const summary = fields[SUMMARY_KEY];
  return {
    role: 'system',
    content: textOf(fields, label),
    ...(summary !== undefined && { summary: summaryFromJson(summary, `${label}.${SUMMARY_KEY}`) }),
  };
}

function assistantFromJson(fields: JsonObject, label: string): AssistantMessage {
  const { content, tool_calls: calls, usage } = fields;
  const reasoning = optionalStringField(fields, 'reasoning_content', label);
  return {
    role: 'assistant',
    content: content === undefined || content === null ? null : textOf(fields, label),
    toolCalls:
      calls === undefined || calls === null
        ? []
        : arrayValue(calls, `${label}.tool_calls`).map((call, index) =>
            toolCallFromJson(call, `${label}.tool_calls[${index}]`),
          ),
    ...(reasoning !== null && { reasoning }),
    ...(usage !== undefined &&
      usage !== null && { usage: modelUsageFromJson(objectValue(usage, `${label}.usage`), `${label}.usage`) }),
  };
}

function toolCallFromJson(value: unknown, label: string): ToolCall {
  const fields = objectValue(value, label);
  const called = objectValue(fields['function'], `${label}.function`);
  return {
    id: stringField(fields, 'id', label),
    name: stringField(called, 'name', `${label}.function`),
    arguments: stringField(called, 'arguments', `${label}.function`),
  };
}

/** Content may be a list of parts, as in chat completions; its texts are joined. */
function textOf(fields: JsonObject, label: string): string {
  const { content } = fields;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw new SessionSerializationError(`${label}.content must be a text`);
  return (content as readonly JsonValue[]).map((part, index) => partText(part, `${label}.content[${index}]`)).join('');
}

function partText(part: JsonValue, label: string): string {
  return stringField(objectValue(part, label), 'text', label);
}

export function summaryToJson(summary: SummaryEntry): JsonObject {
  return {
    content: summary.content,
    first_kept_index: summary.firstKept,
    history_start_index: summary.historyStart,
    source: summary.source,
    summarized_message_count: summary.messageCount,
    tokens_before: summary.tokensBefore,
  };
}

export function summaryFromJson(value: unknown, label: string): SummaryEntry {
  const fields = objectValue(value, label);
  return {
    content: stringField(fields, 'content', label),
    source: stringField(fields, 'source', label),
    historyStart: integerField(fields, 'history_start_index', label),
    firstKept: integerField(fields, 'first_kept_index', label),
    messageCount: integerField(fields, 'summarized_message_count', label),
    tokensBefore: integerField(fields, 'tokens_before', label),
  };
}
