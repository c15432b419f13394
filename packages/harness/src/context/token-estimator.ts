import type { AssistantMessage, Message } from '../messages.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import { addCount, type CharacterCount, countCharacters, countJsonString } from './json-character-count.js';

/** Guesses how many tokens a model counts for what is sent. Pure: the same object always gives the same number. */
export interface MessageTokenEstimator {
  estimateMessage(message: Message): number;
  /** All tools together; 0 if there are none. */
  estimateTools(tools: readonly ToolDefinition[]): number;
}

const MESSAGE_OVERHEAD = 4;
const TOOLS_OVERHEAD = 8;
const ASCII_PER_TOKEN = 4;

// What a chat-completions message has around its strings.
const PLAIN_FRAME = '{"role":,"content":}'.length;
const TOOL_FRAME = '{"role":,"tool_call_id":,"content":}'.length;
const CALLS_FRAME = ',"tool_calls":[]'.length;
const CALL_FRAME = '{"id":,"type":"function","function":{"name":,"arguments":}}'.length;
const REASONING_FRAME = ',"reasoning_content":'.length;
const NULL: CharacterCount = { ascii: 'null'.length, nonAscii: 0 };

/**
 * The fallback where no tokenizer of the provider is at hand: a message is 4, a quarter of its ASCII characters and one
 * for each other character, counted in its JSON as chat completions have it; tools are 8 and the same of theirs.
 * Usage and the metadata of summaries are never sent, so they do not count.
 */
export class HeuristicMessageTokenEstimator implements MessageTokenEstimator {
  readonly #countReasoning: boolean;
  readonly #tools = new WeakMap<ToolDefinition, CharacterCount>();

  /** `countReasoning`: for a model whose adapter sends reasoning text back. Default false. */
  constructor(options: { readonly countReasoning?: boolean } = {}) {
    this.#countReasoning = options.countReasoning ?? false;
  }

  estimateMessage(message: Message): number {
    return MESSAGE_OVERHEAD + tokensOf(this.#count(message));
  }

  estimateTools(tools: readonly ToolDefinition[]): number {
    if (tools.length === 0) return 0;
    const brackets = 2;
    const sum = { ascii: brackets + tools.length - 1, nonAscii: 0 };
    for (const tool of tools) addCount(sum, this.#countTool(tool));
    return TOOLS_OVERHEAD + tokensOf(sum);
  }

  #count(message: Message): CharacterCount {
    if (message.role === 'assistant') return this.#countAssistant(message);
    if (message.role === 'tool') return countAll(TOOL_FRAME, message.role, message.toolCallId, message.content);
    return countAll(PLAIN_FRAME, message.role, message.content);
  }

  #countAssistant(message: AssistantMessage): CharacterCount {
    const { role, content, toolCalls, reasoning } = message;
    const sum = countAll(PLAIN_FRAME, role);
    addCount(sum, content === null ? NULL : countJsonString(content));
    if (toolCalls.length > 0) sum.ascii += CALLS_FRAME + toolCalls.length - 1;
    for (const call of toolCalls) addCount(sum, countAll(CALL_FRAME, call.id, call.name, call.arguments));
    if (this.#countReasoning && reasoning !== undefined) addCount(sum, countAll(REASONING_FRAME, reasoning));
    return sum;
  }

  #countTool(tool: ToolDefinition): CharacterCount {
    const known = this.#tools.get(tool);
    if (known !== undefined) return known;
    const { name, description, parameters, strict } = tool;
    const sent = { type: 'function', function: { name, description, parameters, strict } };
    const count = countCharacters(JSON.stringify(sent));
    this.#tools.set(tool, count);
    return count;
  }
}

/** The same estimator, asked once for each message object: messages never change. */
export function cachedEstimator(estimator: MessageTokenEstimator): MessageTokenEstimator {
  const known = new WeakMap<Message, number>();
  return {
    estimateMessage: (message) => {
      let tokens = known.get(message);
      if (tokens === undefined) {
        tokens = estimator.estimateMessage(message);
        known.set(message, tokens);
      }
      return tokens;
    },
    estimateTools: (tools) => estimator.estimateTools(tools),
  };
}

/** Used wherever no other is given; shared, so that a message is counted once however many ask. */
export const defaultEstimator: MessageTokenEstimator = cachedEstimator(new HeuristicMessageTokenEstimator());

function countAll(frame: number, ...strings: readonly string[]): CharacterCount {
  const sum = { ascii: frame, nonAscii: 0 };
  for (const text of strings) addCount(sum, countJsonString(text));
  return sum;
}

function tokensOf(count: CharacterCount): number {
  return Math.ceil(count.ascii / ASCII_PER_TOKEN + count.nonAscii);
}
