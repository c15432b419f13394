import { promptEnd } from './stop-reasons.js';

describe('the end of a prompt', () => {
  it.each([
    ['end_turn', 'completed', true],
    ['max_tokens', 'max-tokens', true],
    ['refusal', 'refusal', true],
    ['cancelled', 'aborted', false],
    ['max_turn_requests', 'error', false],
    ['coffee_break', 'error', false],
  ])('%s is %s', (reason, stopReason, orderly) => {
    expect(promptEnd({ stopReason: reason })).toMatchObject({ stopReason, orderly });
  });

  it('has something to say of itself unless it is plain', () => {
    expect(promptEnd({ stopReason: 'end_turn' }).diagnostic).toBeUndefined();
    expect(promptEnd({ stopReason: 'max_turn_requests' }).diagnostic).toContain('max_turn_requests');
    expect(promptEnd({ stopReason: 'coffee_break' }).diagnostic).toContain('"coffee_break"');
  });

  it.each([undefined, null, 42, 'end_turn', {}, { stopReason: 1 }, { stopReason: null }])(
    'is an error for %j',
    (answer) => {
      expect(promptEnd(answer)).toMatchObject({ stopReason: 'error', diagnostic: expect.stringMatching(/without/u) });
    },
  );

  it('shows only the beginning of a reason that is not known', () => {
    expect(promptEnd({ stopReason: 'x'.repeat(10_000) }).diagnostic?.length).toBeLessThan(200);
  });
});
