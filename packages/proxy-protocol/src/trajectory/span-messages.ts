import type { Json, JsonObject } from '../json/index.js';
import { TextRoom } from './cut-text.js';
import { blocksOf, textOf } from './event-content.js';

/** Messages as the conventions write them, `[{role, parts}]`: cut inside, so that they stay JSON. */
export function outputMessages(completion: JsonObject, maxTextBytes: number): string {
  const room = new TextRoom(maxTextBytes);
  const parts: JsonObject[] = [];
  for (const block of blocksOf(completion)) {
    // Those that have no room left would still cost their frames.
    if (room.isEmpty) break;
    parts.push(part(block, room));
  }
  if (completion['error'] !== undefined) parts.push({ type: 'text', content: room.take(textOf(completion['error'])) });
  const calls = parts.some(({ type }) => type === 'tool_call');
  return JSON.stringify([{ role: 'assistant', parts, finish_reason: calls ? 'tool_calls' : 'stop' }]);
}

export function userMessages(text: string, maxTextBytes: number): string {
  return JSON.stringify([{ role: 'user', parts: textParts(text, maxTextBytes) }]);
}

export function instructions(text: string, maxTextBytes: number): string {
  return JSON.stringify(textParts(text, maxTextBytes));
}

function textParts(text: string, maxTextBytes: number): readonly JsonObject[] {
  return [{ type: 'text', content: new TextRoom(maxTextBytes).take(text) }];
}

function part(block: JsonObject, room: TextRoom): JsonObject {
  const { type } = block;
  if (type === 'text') return { type: 'text', content: room.take(textOf(block['text'])) };
  if (type === 'thinking') return { type: 'reasoning', content: room.take(textOf(block['thinking'])) };
  if (type === 'tool_use') {
    const { id = null, name = '', input = {} } = block;
    return { type: 'tool_call', id: cutOf(id, room), name: cutOf(name, room), arguments: cutOf(input, room) };
  }
  return { type: room.take(textOf(type)) };
}

/** The value itself where it fits, its cut text where it doesn't. */
function cutOf(value: Json, room: TextRoom): Json {
  const text = textOf(value);
  const taken = room.take(text);
  return taken === text ? value : taken;
}
