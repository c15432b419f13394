import type { ToolCallContent } from '@agentclientprotocol/sdk';
import { textContent } from './describe-tool-call.js';

const MAX_CONTENT_CHARS = 100_000;
/** Fields that hold what a tool has to say. */
const TEXT_FIELDS = ['output', 'content', 'text', 'error', 'reason'] as const;

/** What a model was told, as it is shown to people: of an object its text, if it has one. */
export interface ShownResult {
  readonly content: ToolCallContent[];
  /** The object; absent for plain text. */
  readonly rawOutput?: unknown;
  /** The harness or the tool says that it did not work out. */
  readonly isFailed: boolean;
}

export function shownResult(text: string): ShownResult {
  const value = objectOf(text);
  if (value === undefined) return { content: contentOf(text), isFailed: false };
  const words = TEXT_FIELDS.map((field) => value[field]).find((field) => typeof field === 'string' && field !== '');
  return {
    content: contentOf(typeof words === 'string' ? words : text),
    rawOutput: value,
    isFailed: ['rejected', 'error', 'cancelled', 'timed_out'].includes(String(value['status'])),
  };
}

/** Text that a client can take in. */
export function cut(text: string): string {
  if (text.length <= MAX_CONTENT_CHARS) return text;
  return `${text.slice(0, MAX_CONTENT_CHARS).toWellFormed()}\n… (${text.length - MAX_CONTENT_CHARS} more characters)`;
}

function contentOf(text: string): ToolCallContent[] {
  return text === '' ? [] : [textContent(cut(text))];
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.startsWith('{') || text.length > MAX_CONTENT_CHARS) return undefined;
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}
