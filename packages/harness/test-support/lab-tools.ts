import { StepOutcome } from '../src/tools/step-outcome.js';
import type { ToolCallContext, ToolHandler } from '../src/tools/tool-handler.js';
import type { ToolDefinition } from '../src/tools/tool-definition.js';
import type { ToolEffect } from '../src/enums.js';

export type LabTool = (context: ToolCallContext) => unknown;

export function labTool(name: string, effect: ToolEffect = 'side_effecting'): ToolDefinition {
  return { name, description: name, effect };
}

const NAMES = [
  ...['write', 'boom', 'finish', 'refuse', 'giveup', 'hang', 'report'],
  ...['read_a', 'read_b', 'read_hang', 'read_boom'],
];

/** Tools that do what their names say. What ran is in `log`, in the order of the starts. */
export class LabTools implements ToolHandler {
  readonly tools: readonly ToolDefinition[];
  readonly log: string[] = [];
  readonly #more: Readonly<Record<string, LabTool>>;

  constructor(more: Readonly<Record<string, LabTool>> = {}) {
    this.#more = more;
    const names = new Set([...NAMES, ...Object.keys(more)]);
    this.tools = [...names].map((name) => labTool(name, name.startsWith('read_') ? 'read_only' : 'side_effecting'));
  }

  async call(context: ToolCallContext): Promise<unknown> {
    const { name } = context.tool;
    this.log.push(name);
    const more = this.#more[name];
    if (more !== undefined) return more(context);
    switch (name) {
      case 'boom':
      case 'read_boom':
        throw new Error('kaboom');
      case 'finish':
        return new StepOutcome({ done: true }, { control: 'complete' });
      case 'refuse':
        return new StepOutcome('no', { control: 'reject' });
      case 'giveup':
        return new StepOutcome('stop', { control: 'cancel' });
      case 'hang':
      case 'read_hang':
        return untilAbort(context.signal);
      case 'report':
        await context.progress.report({ message: 'half' });
        await context.progress.report({ message: 'full' });
        return 'reported';
      default:
        return `${name} done`;
    }
  }
}

/** Ends, by throwing, when the signal is aborted. */
export function untilAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = (): void => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
