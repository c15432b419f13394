import type { Finding, Severity } from './findings.js';
import { countBySeverity, selectFindings, summarySentence, verdictOf } from './report.js';

const finding = (line: number, severity: Severity, rule = 'rule', column = 1): Finding => ({
  line,
  column,
  severity,
  rule,
  message: 'm',
});

describe('selectFindings', () => {
  const findings = [finding(3, 'info'), finding(2, 'error'), finding(1, 'info'), finding(1, 'warning', 'rule', 9)];

  it('shows in the order of the source, and nothing below the lowest severity', () => {
    const shown = (lowest: Severity): string[] =>
      selectFindings(findings, lowest, 10).shown.map(({ line, severity }) => `${String(line)} ${severity}`);
    expect(shown('info')).toEqual(['1 info', '1 warning', '2 error', '3 info']);
    expect(shown('warning')).toEqual(['1 warning', '2 error']);
    expect(shown('error')).toEqual(['2 error']);
  });

  it('keeps the severest where not all can be shown, and says so', () => {
    expect(selectFindings(findings, 'info', 2)).toEqual({
      shown: [finding(1, 'warning', 'rule', 9), finding(2, 'error')],
      truncated: true,
    });
    expect(selectFindings(findings, 'warning', 2).truncated).toBe(false);
  });

  it('gives the same order whatever the order found', () => {
    const many = [finding(1, 'info', 'b'), finding(1, 'info', 'a'), finding(1, 'info', 'c')];
    expect(selectFindings(many, 'info', 9)).toEqual(selectFindings(many.toReversed(), 'info', 9));
  });
});

describe('verdictOf', () => {
  it('follows the severest finding', () => {
    expect(verdictOf(countBySeverity([finding(1, 'error'), finding(1, 'info')]))).toBe('request_changes');
    expect(verdictOf(countBySeverity([finding(1, 'warning'), finding(1, 'info')]))).toBe('comment');
    expect(verdictOf(countBySeverity([finding(1, 'info')]))).toBe('approve');
    expect(verdictOf(countBySeverity([]))).toBe('approve');
  });
});

describe('summarySentence', () => {
  it('speaks plainly', () => {
    const metrics = { lines: 1, functions: 0, max_complexity: 0 };
    expect(summarySentence({ error: 0, warning: 1, info: 2 }, metrics, 'javascript', 'comment')).toBe(
      'No errors, 1 warning and 2 remarks in 1 line of JavaScript: worth a second look.',
    );
  });
});
