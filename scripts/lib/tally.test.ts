import { closingLine, countJestResult, ONE_FAILED, ONE_PASSED, ONE_SKIPPED, total } from './tally.mjs';

const jestResult = (numbers: Readonly<Record<string, number>> = {}) =>
  JSON.stringify({
    numPassedTests: 5,
    numFailedTests: 0,
    numPendingTests: 0,
    numTodoTests: 0,
    numRuntimeErrorTestSuites: 0,
    ...numbers,
  });

describe('countJestResult', () => {
  it('counts tests that passed, failed and were left out', () => {
    const json = jestResult({ numFailedTests: 2, numPendingTests: 3, numTodoTests: 1 });
    expect(countJestResult(json, 1)).toEqual({ passed: 5, failed: 2, skipped: 4 });
    expect(countJestResult(jestResult(), 0)).toEqual({ passed: 5, failed: 0, skipped: 0 });
  });

  it('counts a file that could not be loaded as a failure', () => {
    expect(countJestResult(jestResult({ numRuntimeErrorTestSuites: 1 }), 1)).toEqual({
      passed: 5,
      failed: 1,
      skipped: 0,
    });
  });

  it('counts a run that failed as a whole as a failure', () => {
    expect(countJestResult(jestResult(), 1)).toEqual({ passed: 5, failed: 1, skipped: 0 });
    expect(countJestResult(jestResult(), null)).toEqual({ passed: 5, failed: 1, skipped: 0 });
  });

  it.each([undefined, '', 'not json', '{}', '{"numPassedTests":1}', 'null'])('counts %j as one failure', (json) => {
    expect(countJestResult(json, 0)).toEqual({ passed: 0, failed: 1, skipped: 0 });
  });
});

describe('total and closingLine', () => {
  it('add up everything to one line', () => {
    const sum = total([ONE_PASSED, ONE_FAILED, ONE_SKIPPED, { passed: 10, failed: 20, skipped: 30 }]);
    expect(closingLine(sum)).toBe('11 passed, 21 failed, 31 skipped');
    expect(closingLine(total([]))).toBe('0 passed, 0 failed, 0 skipped');
  });
});
