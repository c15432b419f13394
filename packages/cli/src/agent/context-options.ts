import { type AgentOptions, ModelCompactor, type ModelAdapter } from '@parley/harness';

const RESERVE_SHARE = 0.125;
const KEEP_RECENT_SHARE = 0.15;

/** A history that is summarised by the model itself before it outgrows the model's window. */
export function contextOptions(model: ModelAdapter, windowTokens: number): NonNullable<AgentOptions['context']> {
  return {
    policy: {
      budget: {
        windowTokens,
        reserveTokens: Math.floor(windowTokens * RESERVE_SHARE),
        keepRecentTokens: Math.floor(windowTokens * KEEP_RECENT_SHARE),
      },
    },
    compactor: new ModelCompactor(model),
    auto: {},
  };
}
