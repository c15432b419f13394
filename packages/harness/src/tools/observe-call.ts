import type { ToolCallResult } from '../events.js';
import type { HarnessLogger } from '../logger.js';
import type { ObservedToolCall, RunObserver } from '../run-observer.js';
import { thrownText } from './thrown-text.js';

/**
 * Runs `work` inside the observers, the first one outermost. The result is always that of `work`, which runs exactly
 * once: an observer that throws, or that never calls it, is logged and changes nothing.
 */
export function observeCall(
  observers: readonly RunObserver[],
  call: ObservedToolCall,
  work: () => Promise<ToolCallResult>,
  logger: HarnessLogger,
): Promise<ToolCallResult> {
  return observers.reduceRight((inner, observer) => () => observeOnce(observer, call, inner, logger), work)();
}

async function observeOnce(
  observer: RunObserver,
  call: ObservedToolCall,
  work: () => Promise<ToolCallResult>,
  logger: HarnessLogger,
): Promise<ToolCallResult> {
  let running: Promise<ToolCallResult> | undefined;
  const once = () => (running ??= work());
  try {
    await observer.aroundToolCall(call, once);
  } catch (error) {
    logger.warn('an observer failed around a tool call', { tool: call.tool?.name, error: thrownText(error) });
  }
  return once();
}
