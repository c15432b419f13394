import type { JsonObject } from '../json.js';
import type { StepOutcome } from '../tools/step-outcome.js';
import type { ToolProgressUpdate } from '../tools/tool-progress.js';
import type { ToolHandler } from '../tools/tool-handler.js';

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (update: ToolProgressUpdate) => Promise<void> | void;
}

export async function callTool(
  handler: ToolHandler,
  name: string,
  args: JsonObject,
  options: CallOptions = {},
): Promise<StepOutcome> {
  const tool = handler.tools.find((each) => each.name === name);
  const outcome = await handler.call({
    agentId: 'agent',
    runId: 'run-1',
    turn: 1,
    callId: 'c1',
    tool: tool ?? { name, description: '', effect: 'side_effecting' },
    arguments: args,
    signal: options.signal ?? new AbortController().signal,
    progress: { report: async (update) => options.onProgress?.(update) },
  });
  return outcome as StepOutcome;
}

/** What a result holds, for tests to look at. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type ResultData = Record<string, any>;

/** The result that the model would get. */
export async function resultOf(
  handler: ToolHandler,
  name: string,
  args: JsonObject,
  options?: CallOptions,
): Promise<ResultData> {
  return (await callTool(handler, name, args, options)).data as ResultData;
}
