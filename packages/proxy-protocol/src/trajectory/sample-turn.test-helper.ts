import type { JsonObject } from '../json/index.js';
import { chainHash, FIRST_HASH } from './chain-hash.js';
import type { StatusCode, TrajectoryEvent } from './trajectory-event.js';

export const TRACE_ID = 'a'.repeat(32);
export const ROOT_ID = 'b'.repeat(16);

/** Milliseconds after the beginning, as an event has it. */
export function timeAt(ms: number): string {
  return `2026-11-29T21:36:${String(3 + Math.floor(ms / 1_000)).padStart(2, '0')}.${String(ms % 1_000).padStart(3, '0')}000+00:00`;
}

export function event(
  name: string,
  [startMs, endMs]: readonly [number, number],
  attributes: JsonObject,
  status: StatusCode = 'OK',
): TrajectoryEvent {
  return { name, start_time: timeAt(startMs), end_time: timeAt(endMs), status: { status_code: status }, attributes };
}

/** A turn as the Python reference records it: two calls, a tool, a command that fails, a reply. */
export function foreignTurn(): readonly TrajectoryEvent[] {
  const calls = [
    { type: 'thinking', thinking: 'Let me add.' },
    { type: 'text', text: 'Adding, then greeting.' },
    { type: 'tool_use', id: 'call_1', name: 'add', input: { a: 2, b: 3 } },
    { type: 'tool_use', id: 'call_2', name: 'bash', input: { command: 'exit 3', why: 'to see' } },
  ];
  return [
    event('chat', [0, 200], {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'gpt-x',
      'gen_ai.completion': JSON.stringify({ content: calls }),
      'gen_ai.usage.input_tokens': 11,
      'gen_ai.usage.output_tokens': 7,
    }),
    event('add', [210, 220], {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.prompt': '{"input": {"a": 2, "b": 3}}',
      'gen_ai.completion': '{"output": "5"}',
    }),
    event(
      'bash',
      [230, 1_730],
      {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.prompt': '{"input": {"command": "exit 3"}}',
        'gen_ai.completion': '{"output": "oops", "exit_code": 3}',
      },
      'ERROR',
    ),
    event('chat', [1_730, 1_800], {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'gpt-x',
      'gen_ai.completion': '{"content": [{"type": "text", "text": "5"}]}',
      'gen_ai.usage.input_tokens': 21,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.cache_read.input_tokens': 9,
    }),
    event('turn', [0, 1_900], {
      'gen_ai.operation.name': 'chain',
      'gen_ai.request.model': 'gpt-x',
      'gen_ai.prompt': '{"prompt": "What is 2+3?", "system_prompt": "You are terse."}',
      'gen_ai.completion': '{"content": [{"type": "text", "text": "5"}]}',
    }),
  ];
}

/** With ids and digests, as a proxy of ours has them. */
export function chained(events: readonly TrajectoryEvent[], traceId = TRACE_ID): readonly TrajectoryEvent[] {
  let previous = FIRST_HASH;
  return events.map((one, index) => {
    const full = { ...one, trace_id: traceId, span_id: String(index).padStart(16, 'c'), parent_span_id: ROOT_ID };
    const hash = chainHash(previous, full);
    previous = hash;
    return { ...full, hash };
  });
}
