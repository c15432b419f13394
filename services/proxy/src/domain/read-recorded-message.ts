import { type Json, type JsonObject, type RecordedBlock, Refusal } from './facts.js';
import { isFalsy, isObject, member, whyNotJson } from './json-values.js';
import { quote, quoteValue } from './python-repr.js';

const OPENAI_MEMBERS = ['tool_calls', 'reasoning_content', 'reasoning'];
const NO_MESSAGE = 'a recorded model call is an OpenAI chat message, an Anthropic message or a string';

/** Parses JSON text, exactly; throws anything for what is none. */
export type ParseJson = (text: string) => Json;

/**
 * The content of a model call: an assistant's message as OpenAI or Anthropic have it, or only its text. The first form
 * that fits decides; members that it does not know are ignored.
 *
 * @throws Refusal 400 for anything else.
 */
export function readRecordedMessage(message: unknown, parseJson: ParseJson): readonly RecordedBlock[] {
  if (typeof message === 'string') return [{ type: 'text', text: message }];
  if (!isObject(message)) throw new Refusal(400, NO_MESSAGE);
  const fault = whyNotJson(message);
  if (fault !== undefined) throw new Refusal(400, `the recorded model call can't be kept: it ${fault}`);
  if (Object.hasOwn(message, 'role') && message['role'] !== 'assistant') {
    throw new Refusal(400, "a recorded model call is the assistant's message");
  }
  const content = member(message, 'content');
  if (isArray(content) && !OPENAI_MEMBERS.some((name) => Object.hasOwn(message, name))) {
    return content.map(readAnthropicBlock);
  }
  if (content === undefined || content === null || typeof content === 'string' || isArray(content)) {
    return readOpenAi(message, content, parseJson);
  }
  throw new Refusal(400, NO_MESSAGE);
}

function readAnthropicBlock(block: Json): RecordedBlock {
  if (!isObject(block)) return readTextBlock(block);
  switch (member(block, 'type')) {
    case 'tool_use':
      return readToolUse(block);
    case 'redacted_thinking':
      return { type: 'redacted_thinking' };
    case 'thinking': {
      const thinking = member(block, 'thinking');
      return typeof thinking === 'string' ? { type: 'thinking', thinking } : readTextBlock(block);
    }
    default:
      return readTextBlock(block);
  }
}

function readToolUse(block: JsonObject): RecordedBlock {
  const name = member(block, 'name');
  const input = member(block, 'input') ?? (Object.hasOwn(block, 'input') ? null : {});
  if (typeof name !== 'string' || !isObject(input)) {
    throw new Refusal(400, 'a tool_use block needs a name and an input object');
  }
  return { type: 'tool_use', id: callId(block), name, input };
}

function readTextBlock(block: Json): RecordedBlock {
  const text = isObject(block) && member(block, 'type') === 'text' ? member(block, 'text') : undefined;
  if (typeof text !== 'string') throw new Refusal(400, `unreadable content block: ${quoteValue(block)}`);
  return { type: 'text', text };
}

function readOpenAi(
  message: JsonObject,
  content: string | readonly Json[] | null | undefined,
  parseJson: ParseJson,
): readonly RecordedBlock[] {
  const blocks: RecordedBlock[] = [];
  const own = member(message, 'reasoning_content');
  const thinking = isFalsy(own) ? member(message, 'reasoning') : own;
  if (typeof thinking === 'string' && thinking !== '') blocks.push({ type: 'thinking', thinking });
  if (typeof content === 'string') {
    if (content !== '') blocks.push({ type: 'text', text: content });
  } else blocks.push(...(content ?? []).map(readTextBlock));
  const calls = member(message, 'tool_calls');
  if (calls === undefined || isFalsy(calls)) return blocks;
  if (!isArray(calls)) throw new Refusal(400, 'a tool call names no function');
  return [...blocks, ...calls.map((call) => readToolCall(call, parseJson))];
}

function readToolCall(call: Json, parseJson: ParseJson): RecordedBlock {
  const named = isObject(call) ? member(call, 'function') : undefined;
  const name = isObject(named) ? member(named, 'name') : undefined;
  if (!isObject(call) || !isObject(named) || typeof name !== 'string') {
    throw new Refusal(400, 'a tool call names no function');
  }
  return {
    type: 'tool_use',
    id: callId(call),
    name,
    input: readArguments(name, member(named, 'arguments'), parseJson),
  };
}

function readArguments(name: string, given: Json | undefined, parseJson: ParseJson): JsonObject {
  if (given === undefined || isFalsy(given)) return {};
  const value = typeof given === 'string' ? parseArguments(name, given, parseJson) : given;
  if (!isObject(value)) throw new Refusal(400, `tool call ${quote(name)}: its arguments aren't an object`);
  return value;
}

function parseArguments(name: string, text: string, parseJson: ParseJson): Json {
  let value: Json | undefined;
  try {
    value = parseJson(text);
  } catch {
    // Whatever is wrong with the text: the sentence is the same.
  }
  if (value === undefined || whyNotJson(value) !== undefined) {
    throw new Refusal(400, `tool call ${quote(name)}: its arguments aren't JSON`);
  }
  return value;
}

function callId(call: JsonObject): string | null {
  const id = member(call, 'id');
  if (typeof id === 'string') return id;
  return id === undefined || id === null || typeof id === 'object' ? null : String(id);
}

function isArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}
