import type { SubagentUpdate } from '@parley/harness';
import { shortName } from './cut-text.js';
import type { OutputText } from './output-text.js';

/** Of what a child says in one piece, an update has at most so much: the reader is never given more than it can hold. */
const MAX_TEXT_CHARS = 8_192;
const MAX_NAME_CHARS = 200;
/** Remembered at once; the calls of a turn are few. */
const MAX_CALLS = 1_000;

interface LooseUpdate {
  readonly sessionUpdate?: unknown;
  readonly content?: unknown;
  readonly messageId?: unknown;
  readonly toolCallId?: unknown;
  readonly title?: unknown;
  readonly name?: unknown;
  readonly status?: unknown;
}

interface KnownCall {
  readonly tool: string;
  ended: boolean;
}

/**
 * Reads what `session/update` brings: text goes to the output, and with thoughts and tool calls to the updates. What is
 * of an unknown or broken shape is passed over: a newer child may say more than is known here.
 */
export class UpdateMapping {
  readonly #calls = new Map<string, KnownCall>();

  constructor(
    private readonly output: OutputText,
    private readonly tell: (update: SubagentUpdate) => void,
  ) {}

  read(update: unknown): void {
    if (typeof update !== 'object' || update === null) return;
    const loose: LooseUpdate = update;
    switch (loose.sessionUpdate) {
      case 'agent_message_chunk':
        this.#message(loose);
        return;
      case 'agent_thought_chunk':
        this.#tellText('thought', textOf(loose.content));
        return;
      case 'tool_call':
      case 'tool_call_update':
        this.#toolCall(loose);
        return;
      default:
    }
  }

  #message({ content, messageId }: LooseUpdate): void {
    const text = textOf(content);
    this.output.append(text, typeof messageId === 'string' ? messageId : undefined);
    this.#tellText('text', text);
  }

  #tellText(kind: 'text' | 'thought', text: string): void {
    for (let start = 0; start < text.length; start += MAX_TEXT_CHARS) {
      this.tell({ kind, text: text.slice(start, start + MAX_TEXT_CHARS) });
    }
  }

  /** Some children announce a call only by its first update. */
  #toolCall(update: LooseUpdate): void {
    if (typeof update.toolCallId !== 'string') return;
    const callId = update.toolCallId.slice(0, MAX_NAME_CHARS);
    const call = this.#calls.get(callId) ?? this.#begin(callId, update);
    const failed = update.status === 'failed';
    if (call.ended || (!failed && update.status !== 'completed')) return;
    call.ended = true;
    this.tell({ kind: 'tool_completed', callId, tool: call.tool, failed });
  }

  #begin(callId: string, { name, title }: LooseUpdate): KnownCall {
    const call = { tool: shortName(name, MAX_NAME_CHARS) ?? shortName(title, MAX_NAME_CHARS) ?? 'tool', ended: false };
    this.#calls.set(callId, call);
    if (this.#calls.size > MAX_CALLS) this.#forgetOldest();
    this.output.toolCall();
    this.tell({ kind: 'tool_started', callId, tool: call.tool });
    return call;
  }

  #forgetOldest(): void {
    for (const callId of this.#calls.keys()) {
      this.#calls.delete(callId);
      return;
    }
  }
}

function textOf(content: unknown): string {
  if (typeof content !== 'object' || content === null) return '';
  const { type, text } = content as { type?: unknown; text?: unknown };
  return type === 'text' && typeof text === 'string' ? text : '';
}
