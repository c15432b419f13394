import type { ToolCallResult } from '../events.js';
import type { ToolCall } from '../messages.js';
import type { ToolTurn } from './tool-turn.js';
import type { TurnGate } from './turn-gate.js';

export interface SettledCall {
  readonly call: ToolCall;
  readonly result: ToolCallResult;
}

/** Stores and shows results. Nobody hears of a result that is not stored, and nothing comes between the two. */
export class TurnSettler {
  constructor(
    private readonly turn: ToolTurn,
    private readonly gate: TurnGate,
  ) {}

  started(call: ToolCall): Promise<void> {
    return this.gate.run(() => this.turn.emit({ kind: 'tool_started', turn: this.turn.turn, toolCall: call }));
  }

  /** Results that are there at the same time are stored at once: one write instead of many. */
  completed(settled: readonly SettledCall[]): Promise<void> {
    return this.gate.run(async () => {
      await this.turn.commit(settled.map(({ result }) => result.message));
      for (const { call, result } of settled) {
        await this.turn.emit({ kind: 'tool_completed', turn: this.turn.turn, toolCall: call, result });
      }
    });
  }

  /** A call that never ran shows up like any other. */
  async unstarted(call: ToolCall, result: ToolCallResult): Promise<void> {
    await this.started(call);
    await this.completed([{ call, result }]);
  }
}
