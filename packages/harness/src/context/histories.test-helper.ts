import fc from 'fast-check';
import type { AssistantMessage, Message, SummaryEntry, ToolMessage } from '../messages.js';
import type { CompactionPolicy } from './compaction-types.js';

export function user(content: string): Message {
  return { role: 'user', content };
}

export function said(content: string): AssistantMessage {
  return { role: 'assistant', content, toolCalls: [] };
}

/** An assistant message with one call for each id. */
export function calls(...ids: readonly string[]): AssistantMessage {
  return {
    role: 'assistant',
    content: null,
    toolCalls: ids.map((id) => ({ id, name: 'write', arguments: '{"n":1}' })),
  };
}

export function result(toolCallId: string, content = 'written'): ToolMessage {
  return { role: 'tool', toolCallId, content };
}

/** One call and its result, so often. */
export function steps(count: number, content = 'written', prefix = 'c'): Message[] {
  return Array.from({ length: count }, (_, at) => `${prefix}${at}`).flatMap((id) => [calls(id), result(id, content)]);
}

export function policyOf(windowTokens: number, reserveTokens: number, keepRecentTokens: number): CompactionPolicy {
  return { budget: { windowTokens, reserveTokens, keepRecentTokens } };
}

export function summaryEntry(content: string): SummaryEntry {
  return { content, source: 'test', historyStart: 0, firstKept: 2, messageCount: 2, tokensBefore: 100 };
}

const content = fc
  .tuple(fc.string({ maxLength: 8 }), fc.integer({ min: 0, max: 400 }))
  .map(([text, repeats]) => text.repeat(repeats));

interface Step {
  readonly text: string;
  readonly results: readonly string[];
}

const step: fc.Arbitrary<Step> = fc.record({ text: content, results: fc.array(content, { maxLength: 3 }) });
const turn = fc.record({ task: content, steps: fc.array(step, { maxLength: 6 }) });

/** Histories as runs leave them: every call has its results behind it, in order. */
export const anyHistory: fc.Arbitrary<readonly Message[]> = fc
  .tuple(
    fc.array(
      content.map((text): Message => ({ role: 'system', content: text })),
      { maxLength: 2 },
    ),
    fc.array(turn, { minLength: 1, maxLength: 5 }),
  )
  .map(([leading, turns]) => {
    let id = 0;
    const messagesOf = ({ text, results }: Step): Message[] => {
      const ids = results.map(() => `c${id++}`);
      const message = { ...calls(...ids), content: text };
      return [message, ...ids.map((each, at) => result(each, results[at]))];
    };
    return [...leading, ...turns.flatMap((each) => [user(each.task), ...each.steps.flatMap(messagesOf)])];
  });

/** Budgets that pass the check, most of them too small for the histories. */
export const anyPolicy: fc.Arbitrary<CompactionPolicy> = fc
  .tuple(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 0, max: 500 }), fc.integer({ min: 1, max: 3_000 }))
  .map(([threshold, reserve, keep]) => policyOf(threshold + reserve, reserve, Math.min(keep, threshold)));

/** Call ids that have their call in one part and their result in another. */
export function separated(parts: readonly (readonly Message[])[]): readonly string[] {
  const callers = new Map<string, number>();
  const found: string[] = [];
  parts.forEach((part, at) => {
    for (const message of part) {
      if (message.role === 'assistant') for (const { id } of message.toolCalls) callers.set(id, at);
      if (message.role === 'tool' && callers.get(message.toolCallId) !== at) found.push(message.toolCallId);
    }
  });
  return found;
}
