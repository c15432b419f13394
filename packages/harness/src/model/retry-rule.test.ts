import { getEventListeners } from 'node:events';
import { ContextOverflowError, ModelProviderError, ModelRateLimitError } from './model-errors.js';
import { readRetryAfter, retryDelay, waitFor } from './retry-rule.js';

const rule = { maxRetries: 3, maxRetryAfterMs: 10_000, random: () => 1 };
const slow = (retryAfterMs?: number): ModelProviderError =>
  new ModelRateLimitError('slow', { transient: true, retryAfterMs });

describe('retryDelay', () => {
  it('doubles up to a limit', () => {
    const patient = { ...rule, maxRetries: 10 };
    expect([0, 1, 2, 3, 4, 9].map((retries) => retryDelay(slow(), retries, patient))).toEqual([
      500, 1_000, 2_000, 4_000, 8_000, 8_000,
    ]);
  });

  it('is at least half of that', () => {
    expect(retryDelay(slow(), 1, { ...rule, random: () => 0 })).toBe(500);
  });

  it('ends after the last retry', () => {
    expect(retryDelay(slow(), 2, rule)).toBeDefined();
    expect(retryDelay(slow(), 3, rule)).toBeUndefined();
    expect(retryDelay(slow(), 0, { ...rule, maxRetries: 0 })).toBeUndefined();
  });

  it('waits as long as the server asks, and not at all if that is too long', () => {
    expect(retryDelay(slow(7_000), 0, rule)).toBe(7_000);
    expect(retryDelay(slow(10_000), 0, rule)).toBe(10_000);
    expect(retryDelay(slow(10_001), 0, rule)).toBeUndefined();
  });

  it('does not repeat what would fail again', () => {
    expect(retryDelay(new ContextOverflowError('long'), 0, rule)).toBeUndefined();
    expect(retryDelay(new ModelProviderError('provider_error', 'no'), 0, rule)).toBeUndefined();
  });
});

describe('readRetryAfter', () => {
  const now = Date.UTC(2030, 0, 1);

  it.each([
    [{ 'retry-after': '3' }, 3_000],
    [{ 'retry-after': ' 0.5 ' }, 500],
    [{ 'retry-after-ms': '250', 'retry-after': '3' }, 250],
    [{ 'retry-after-ms': 'soon', 'retry-after': '3' }, 3_000],
    [{ 'retry-after': 'Tue, 01 Jan 2030 00:00:09 GMT' }, 9_000],
    [{ 'retry-after': 'Mon, 31 Dec 2029 00:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{}, undefined],
  ] as readonly (readonly [Record<string, string>, number | undefined])[])('reads %p as %p', (headers, expected) => {
    expect(readRetryAfter(new Headers(headers), now)).toBe(expected);
  });
});

describe('waitFor', () => {
  it('ends with an abort and leaves no listener', async () => {
    const controller = new AbortController();
    const waiting = waitFor(60_000, controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    await waitFor(1, new AbortController().signal);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });
});
