import { resolve } from 'node:path';
import type { SessionUpdate, ToolCallContent, ToolCallUpdate } from '@agentclientprotocol/sdk';
import type { AgentEvent, ToolCall, ToolCallResult, ToolEffect } from '@parley/harness';
import { askedChange, describeToolCall, diffContent, textContent } from './describe-tool-call.js';
import { fileBefore } from './file-before.js';
import { cut, shownResult } from './result-content.js';
import { textChunk } from './text-chunk.js';

export interface RunUpdatesOptions {
  readonly cwd: string;
  readonly contextWindowTokens: number | undefined;
  readonly effectOf: (toolName: string) => ToolEffect | undefined;
  /** Resolves when it is written. Never rejects. */
  readonly send: (update: SessionUpdate) => Promise<void>;
}

/** What is known of a call that has no result yet. */
interface OpenCall {
  readonly call: ToolCall;
  readonly diff?: ToolCallContent | undefined;
}

/** Tells a client what happens in a run, in the order in which it happens. */
export class RunUpdates {
  readonly #options: RunUpdatesOptions;
  readonly #calls = new Map<string, OpenCall>();
  /** Of the message that is being shown. */
  #shownChars = 0;
  #shownThoughtChars = 0;
  #usedTokens: number | undefined;

  constructor(options: RunUpdatesOptions) {
    this.#options = options;
  }

  async on({ runId, payload }: AgentEvent): Promise<void> {
    switch (payload.kind) {
      case 'turn_started':
        this.#shownChars = 0;
        this.#shownThoughtChars = 0;
        return;
      case 'assistant_text_delta':
        return this.#text(runId, payload.turn, payload.delta);
      case 'assistant_thinking_delta':
        return this.#thought(runId, payload.turn, payload.delta);
      case 'message_completed': {
        const { turn, message } = payload;
        // Not every model is heard while it speaks.
        await this.#thought(runId, turn, (message.reasoning ?? '').slice(this.#shownThoughtChars));
        await this.#text(runId, turn, (message.content ?? '').slice(this.#shownChars));
        for (const call of message.toolCalls) await this.#announce(call);
        return;
      }
      case 'tool_started':
        return this.#started(payload.toolCall);
      case 'tool_progressed':
        return this.#update(payload.toolCall.id, { content: [textContent(cut(payload.update.message))] });
      case 'tool_completed':
        return this.#completed(payload.toolCall, payload.result);
      case 'context_pressure_evaluated':
        return this.#usage(payload.decision.estimate.totalTokens);
      case 'agent_finished':
        return this.#closeRest();
      default:
        return;
    }
  }

  /** How a call that is asked about is shown; null if the run does not know it. */
  picture(callId: string): ToolCallUpdate | null {
    const open = this.#calls.get(callId);
    if (open === undefined) return null;
    const { title, kind, locations, rawInput } = this.#describe(open.call);
    const content = open.diff === undefined ? {} : { content: [open.diff] };
    return { toolCallId: callId, title, kind, locations, rawInput, status: 'pending', ...content };
  }

  /** A call that was asked about may run now. */
  async allowed(callId: string): Promise<void> {
    if (this.#calls.has(callId)) await this.#update(callId, { status: 'in_progress' });
  }

  async #text(runId: string, turn: number, text: string): Promise<void> {
    if (text === '') return;
    this.#shownChars += text.length;
    await this.#options.send(textChunk('agent_message_chunk', text, `${runId}-${turn}`));
  }

  async #thought(runId: string, turn: number, text: string): Promise<void> {
    if (text === '') return;
    this.#shownThoughtChars += text.length;
    await this.#options.send(textChunk('agent_thought_chunk', text, `${runId}-${turn}`));
  }

  async #announce(call: ToolCall): Promise<void> {
    this.#calls.set(call.id, { call });
    await this.#options.send({
      sessionUpdate: 'tool_call',
      toolCallId: call.id,
      name: call.name,
      status: 'pending',
      ...this.#describe(call),
    });
  }

  async #started(call: ToolCall): Promise<void> {
    if (!this.#calls.has(call.id)) await this.#announce(call);
    // Before the tool runs: afterwards nobody knows what was there.
    const diff = await this.#diffOf(call);
    this.#calls.set(call.id, { call, diff });
    await this.#update(call.id, { status: 'in_progress', ...(diff !== undefined && { content: [diff] }) });
  }

  async #completed(call: ToolCall, result: ToolCallResult): Promise<void> {
    const diff = this.#calls.get(call.id)?.diff;
    this.#calls.delete(call.id);
    const { content, rawOutput, isFailed: saysSo } = shownResult(result.message.content);
    // Also a call that was denied: for its tool it never happened.
    const isFailed = saysSo || result.error !== null || result.cancelled || result.control === 'reject';
    await this.#update(call.id, {
      status: isFailed ? 'failed' : 'completed',
      content: diff !== undefined && !isFailed ? [diff] : content,
      ...(rawOutput !== undefined && { rawOutput }),
    });
  }

  /** No call is left spinning, whatever became of its run. */
  async #closeRest(): Promise<void> {
    const ids = [...this.#calls.keys()];
    this.#calls.clear();
    for (const id of ids) await this.#update(id, { status: 'failed' });
  }

  async #update(toolCallId: string, update: Omit<ToolCallUpdate, 'toolCallId'>): Promise<void> {
    await this.#options.send({ sessionUpdate: 'tool_call_update', toolCallId, ...update });
  }

  async #usage(used: number): Promise<void> {
    const size = this.#options.contextWindowTokens;
    if (size === undefined || used === this.#usedTokens) return;
    this.#usedTokens = used;
    await this.#options.send({ sessionUpdate: 'usage_update', used, size });
  }

  async #diffOf(call: ToolCall): Promise<ToolCallContent | undefined> {
    const change = askedChange(call);
    if (change === undefined || change.path.includes('\0')) return undefined;
    const { cwd } = this.#options;
    const oldText = change.oldText ?? (await fileBefore(cwd, change.path));
    return oldText === undefined ? undefined : diffContent(resolve(cwd, change.path), oldText, change.newText);
  }

  #describe(call: ToolCall) {
    return describeToolCall(call, this.#options.cwd, this.#options.effectOf(call.name));
  }
}
