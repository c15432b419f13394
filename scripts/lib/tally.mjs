/** What a run of the tests adds up to: every check counts as one test, every jest test as one. */

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */

export const NOTHING = Object.freeze({ passed: 0, failed: 0, skipped: 0 });
export const ONE_PASSED = Object.freeze({ passed: 1, failed: 0, skipped: 0 });
export const ONE_FAILED = Object.freeze({ passed: 0, failed: 1, skipped: 0 });
export const ONE_SKIPPED = Object.freeze({ passed: 0, failed: 0, skipped: 1 });

/** @param {Iterable<Counts>} all @returns {Counts} */
export function total(all) {
  const sum = { ...NOTHING };
  for (const counts of all) {
    sum.passed += counts.passed;
    sum.failed += counts.failed;
    sum.skipped += counts.skipped;
  }
  return sum;
}

/** The one line a run ends with. @param {Counts} counts */
export function closingLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/**
 * Counts what jest wrote with `--json --outputFile`. A file that could not be loaded has no failed test in it,
 * and jest may fail as a whole after its last test: each of these is one failure more.
 * @param {string | undefined} json text of the result file; undefined when jest wrote none
 * @param {number | null} exitCode of jest; null when it was ended by a signal
 * @returns {Counts}
 */
export function countJestResult(json, exitCode) {
  let result;
  try {
    result = JSON.parse(json ?? '') ?? {};
  } catch {
    return { ...ONE_FAILED };
  }
  const counts = {
    passed: result.numPassedTests,
    failed: result.numFailedTests + result.numRuntimeErrorTestSuites,
    skipped: result.numPendingTests + result.numTodoTests,
  };
  if (!Object.values(counts).every((count) => Number.isInteger(count) && count >= 0)) return { ...ONE_FAILED };
  if (exitCode !== 0 && counts.failed === 0) counts.failed = 1;
  return counts;
}

/** @typedef {{ file: string, tests: readonly string[], counts: Counts }} FailedFile */

/**
 * The files in which something failed, with the names of those tests and the counts of all of the file.
 * @param {string | undefined} json as {@link countJestResult} takes it
 * @returns {FailedFile[]} empty if it cannot be read
 */
export function failedFiles(json) {
  let files;
  try {
    files = JSON.parse(json ?? '').testResults ?? [];
  } catch {
    return [];
  }
  return files
    .filter(({ status }) => status === 'failed')
    .map(({ name, assertionResults: tests = [] }) => {
      const failed = tests.filter(({ status }) => status === 'failed');
      const passed = tests.filter(({ status }) => status === 'passed').length;
      return {
        file: name,
        tests: failed.map(({ fullName }) => fullName),
        // One that could not be loaded has no test.
        counts: { passed, failed: Math.max(1, failed.length), skipped: tests.length - passed - failed.length },
      };
    });
}

/**
 * What a run adds up to when the files that had failed were run again: those count as they did the second time.
 * @param {Counts} first of all files  @param {readonly FailedFile[]} files  @param {Counts} second of those files
 * @returns {Counts}
 */
export function countAgain(first, files, second) {
  const before = total(files.map(({ counts }) => counts));
  return {
    passed: first.passed - before.passed + second.passed,
    failed: Math.max(0, first.failed - before.failed) + second.failed,
    skipped: first.skipped - before.skipped + second.skipped,
  };
}
