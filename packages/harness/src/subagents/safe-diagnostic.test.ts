import { safeDiagnostic } from './safe-diagnostic.js';

describe('the diagnostic of a child', () => {
  it('holds no control characters', () => {
    expect(safeDiagnostic('a\u001b[31mb\u0000\u009bc\nd')).toBe('a[31mbc\nd');
  });

  it('is at most 4,096 bytes of whole characters', () => {
    for (const text of ['x'.repeat(5_000), '€'.repeat(2_000), '😀'.repeat(2_000), `x${'😀'.repeat(2_000)}`]) {
      const safe = safeDiagnostic(text);
      expect(Buffer.byteLength(safe)).toBeLessThanOrEqual(4_096);
      expect(Buffer.byteLength(safe)).toBeGreaterThan(4_085);
      expect(safe).not.toContain('\ufffd');
      expect(safe.isWellFormed()).toBe(true);
    }
    expect(safeDiagnostic('x'.repeat(4_096))).toHaveLength(4_096);
  });
});
