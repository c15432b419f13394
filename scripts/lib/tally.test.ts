import {
  closingLine,
  countAgain,
  countJestResult,
  failedFiles,
  ONE_FAILED,
  ONE_PASSED,
  ONE_SKIPPED,
  total,
} from './tally.mjs';

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

describe('files that failed and are run again', () => {
  const file = (name: string, ...statuses: readonly string[]) => ({
    name,
    status: statuses.every((status) => status !== 'failed') && statuses.length > 0 ? 'passed' : 'failed',
    assertionResults: statuses.map((status, index) => ({ status, fullName: `${name} ${String(index)}` })),
  });

  it('are named with what failed in them, also where nothing could be loaded', () => {
    const json = JSON.stringify({
      testResults: [file('a', 'passed', 'failed', 'pending'), file('b', 'passed'), file('c')],
    });
    expect(failedFiles(json)).toEqual([
      { file: 'a', tests: ['a 1'], counts: { passed: 1, failed: 1, skipped: 1 } },
      { file: 'c', tests: [], counts: { passed: 0, failed: 1, skipped: 0 } },
    ]);
    for (const none of [undefined, '', '{}', 'no json']) expect(failedFiles(none)).toEqual([]);
  });

  it('count as they did the second time, and nothing else is forgiven', () => {
    const files = [{ file: 'a', tests: ['a 1'], counts: { passed: 1, failed: 1, skipped: 1 } }];
    const first = { passed: 9, failed: 1, skipped: 1 };
    expect(countAgain(first, files, { passed: 2, failed: 0, skipped: 1 })).toEqual({
      passed: 10,
      failed: 0,
      skipped: 1,
    });
    expect(countAgain(first, files, { passed: 1, failed: 1, skipped: 1 })).toEqual(first);
    expect(countAgain({ ...first, failed: 2 }, files, { passed: 2, failed: 0, skipped: 1 }).failed).toBe(1);
    expect(countAgain(first, files, ONE_FAILED).failed).toBe(1);
  });
});
