import { addUsage, emptyRunUsage } from '../model/usage-accounting.js';
import { usageOf } from '../model/scripted-model.js';
import { checkBudget } from './budget-guard.js';

const used = addUsage(emptyRunUsage(), usageOf(60, 40));

describe('a budget', () => {
  it('always allows the first request', () => {
    expect(checkBudget({ maxTotalTokens: 1, maxRequests: 1 }, emptyRunUsage())).toBeNull();
  });

  it.each([
    ['maxTotalTokens', 100, 101],
    ['maxInputTokens', 60, 61],
    ['maxOutputTokens', 40, 41],
    ['maxRequests', 1, 2],
  ])('%s is spent when it is reached', (limit, spent, enough) => {
    expect(checkBudget({ [limit]: spent }, used)).toMatchObject({
      stopReason: 'token_budget_exceeded',
      error: expect.stringContaining(`${String(spent)} of ${String(spent)}`),
    });
    expect(checkBudget({ [limit]: enough }, used)).toBeNull();
  });

  it('of tokens ends a run whose usage is unknown, before it counts as spent', () => {
    const unknown = addUsage(used, null);
    expect(checkBudget({ maxTotalTokens: 10 }, unknown)?.stopReason).toBe('usage_unavailable');
    expect(checkBudget({ maxRequests: 3 }, unknown)).toBeNull();
    expect(checkBudget({}, unknown)).toBeNull();
  });

  it('of one counter ends a run whose model does not report it', () => {
    const totalOnly = addUsage(emptyRunUsage(), {
      ...usageOf(0, 0),
      inputTokens: null,
      outputTokens: null,
      totalTokens: 9,
    });
    expect(checkBudget({ maxInputTokens: 100 }, totalOnly)?.stopReason).toBe('usage_unavailable');
    expect(checkBudget({ maxTotalTokens: 100 }, totalOnly)).toBeNull();
  });
});
