import type { ActionResult, Fact, JsonObject, RecordedBlock, TurnEnd } from '../domain/facts.js';

export const TRACE_ID = '1'.repeat(32);
export const ROOT_ID = '2'.repeat(16);
export const T0 = Date.UTC(2026, 10, 29, 21, 36, 3);

const hex = (number: number): string => number.toString(16).padStart(16, '0');

/** Facts of a turn, made one after the other, a tenth of a second apart. */
export class Facts {
  #at = T0;
  #spans = 10;

  constructor(
    readonly taskId = 't',
    readonly contextId = 'c',
  ) {}

  get at(): number {
    this.#at += 100.001;
    return Math.round(this.#at * 1_000) / 1_000;
  }

  submitted(more: Partial<Extract<Fact, { kind: 'turn_submitted' }>> = {}): Fact {
    const { taskId, contextId } = this;
    return {
      kind: 'turn_submitted',
      taskId,
      contextId,
      at: this.at,
      message: {},
      messageId: 'm',
      texts: ['one', 'two'],
      systemPrompt: null,
      traceId: TRACE_ID,
      spanId: ROOT_ID,
      ...more,
    };
  }

  opened(): Fact {
    return { kind: 'turn_opened', taskId: this.taskId, at: this.at, version: 1, servers: [], skills: [] };
  }

  recorded(blocks: readonly RecordedBlock[], more: { model?: string; usage?: JsonObject } = {}): Fact {
    return {
      kind: 'recorded',
      taskId: this.taskId,
      at: this.at,
      blocks,
      expected: [],
      spanId: hex(this.#spans++),
      ...more,
    };
  }

  text(text: string): Fact {
    return this.recorded([{ type: 'text', text }]);
  }

  bash(actionId: string, command: string, timeoutSeconds?: number): Fact {
    const action = { kind: 'bash', command, ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }) } as const;
    return { kind: 'action_started', taskId: this.taskId, actionId, at: this.at, action, spanId: hex(this.#spans++) };
  }

  tool(actionId: string, name: string, args: JsonObject, callId: string | null = null): Fact {
    return {
      kind: 'action_started',
      taskId: this.taskId,
      actionId,
      at: this.at,
      action: { kind: 'tool', server: 'srv', name, arguments: args },
      call: { index: 0, callId, name, key: '' },
      spanId: hex(this.#spans++),
    };
  }

  ended(
    actionId: string,
    result: ActionResult,
    cause: 'done' | 'turn_over' | 'cancelled' | 'lost' = 'done',
    attributes?: JsonObject,
  ): Fact {
    const more = attributes === undefined ? {} : { attributes };
    return { kind: 'action_ended', taskId: this.taskId, actionId, at: this.at, cause, result, ...more };
  }

  closed(end: TurnEnd = { state: 'completed', texts: ['bye'] }): Fact {
    return { kind: 'turn_closed', taskId: this.taskId, at: this.at, version: 2, end, messageId: 'x', toolCallCount: 0 };
  }

  /** A turn from beginning to end with one call recorded. */
  whole(): readonly Fact[] {
    return [this.submitted(), this.opened(), this.text('hi'), this.closed()];
  }
}

export function bashResult(more: Partial<Extract<ActionResult, { kind: 'bash' }>> = {}): ActionResult {
  const { stdout = '', stderr = '' } = more;
  const stdoutBytes = Buffer.byteLength(stdout);
  const stderrBytes = Buffer.byteLength(stderr);
  return { kind: 'bash', stdout, stderr, timedOut: false, truncated: false, stdoutBytes, stderrBytes, ...more };
}

export function toolResult(text: string, isError = false): ActionResult {
  return { kind: 'tool', content: [{ type: 'text', text }], isError };
}
