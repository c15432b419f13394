import type { OpenAI } from 'openai';
import type { AssistantMessage, Message, ToolCall } from '../messages.js';
import { toOpenAiTool } from '../tools/open-ai-tool.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import type { ModelRequest } from './model-adapter.js';
import type { ResolvedOpenAiConfig } from './openai-config.js';

export type WireMessage = OpenAI.ChatCompletionMessageParam;

// Messages never change after they were made, so each is translated once however often it is sent.
const withReasoning = new WeakMap<Message, WireMessage>();
const withoutReasoning = new WeakMap<Message, WireMessage>();

/** The body of a chat-completions request. */
export function toWireRequest(
  request: ModelRequest,
  config: ResolvedOpenAiConfig,
): OpenAI.ChatCompletionCreateParamsStreaming {
  return {
    ...config.extraBody,
    model: config.model,
    messages: request.messages.map((message) => toWireMessage(message, config.sendReasoning)),
    // Servers refuse an empty list.
    ...(request.tools.length > 0 ? { tools: request.tools.map(toWireTool) } : {}),
    ...(config.temperature === undefined ? {} : { temperature: config.temperature }),
    stream: true,
    ...(config.includeUsage ? { stream_options: { include_usage: true } } : {}),
  };
}

/** A message in the form of the protocol: only what the protocol knows, never usage or summary data. */
export function toWireMessage(message: Message, sendReasoning: boolean): WireMessage {
  const cache = sendReasoning ? withReasoning : withoutReasoning;
  const known = cache.get(message);
  if (known !== undefined) return known;
  const wire = translate(message, sendReasoning);
  cache.set(message, wire);
  return wire;
}

// With the library's type, which is wider.
function toWireTool(tool: ToolDefinition): OpenAI.ChatCompletionFunctionTool {
  return toOpenAiTool(tool);
}

function translate(message: Message, sendReasoning: boolean): WireMessage {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user':
      return { role: 'user', content: message.content };
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
    case 'assistant':
      return translateAssistant(message, sendReasoning);
  }
}

function translateAssistant(message: AssistantMessage, sendReasoning: boolean): WireMessage {
  const hasCalls = message.toolCalls.length > 0;
  return {
    role: 'assistant',
    // Null is allowed beside calls only.
    content: hasCalls ? message.content : (message.content ?? ''),
    ...(hasCalls ? { tool_calls: message.toolCalls.map(translateCall) } : {}),
    ...(sendReasoning && message.reasoning !== undefined ? { reasoning_content: message.reasoning } : {}),
  };
}

function translateCall(call: ToolCall): OpenAI.ChatCompletionMessageFunctionToolCall {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: soundArguments(call.arguments) } };
}

/**
 * Arguments that broke off stay in the history beside the error result that they got. Servers that parse them for the
 * model's template refuse every later request, so they are sent as the text inside an object.
 */
function soundArguments(text: string): string {
  if (text.trim() === '') return '{}';
  try {
    JSON.parse(text);
    return text;
  } catch {
    return JSON.stringify({ unparsed_arguments: text });
  }
}
