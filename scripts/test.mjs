#!/usr/bin/env node
/**
 * Runs every check and test, or those that are named: `npm test`, `npm test -- unit integration`.
 * The last line is always `N passed, N failed, N skipped`; the exit code is 0 only without a failure.
 *
 * Many tests run real processes against the clock, two files at a time. Where at most three files failed, these are run
 * once more, alone: what fails there too has failed. What did not is named above the last line, since it may be a race.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { contractsAreCompatible, generatedIsFresh } from './lib/proto-checks.mjs';
import {
  closingLine,
  countAgain,
  countJestResult,
  failedFiles,
  NOTHING,
  ONE_FAILED,
  ONE_PASSED,
  ONE_SKIPPED,
  total,
} from './lib/tally.mjs';
import { read, root, run, useProjectNode } from './lib/workspace.mjs';

useProjectNode();

const results = join(root, '.parley', 'test-results');
const containersRequired = process.env.REQUIRE_CONTAINERS === '1';
const clusterRequired = process.env.REQUIRE_CLUSTER === '1';
const clusterTakesImages = (process.env.CLUSTER_LOAD ?? '') !== '';
/** More than these are no stall of the machine. */
const MAX_FILES_AGAIN = 3;
const JEST_ENV = { NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning' };
const OTHER_SUITES = ['integration', 'conformance', 'compose', 'chart', 'cluster'].map((name) => `tests/${name}/`);

/** In this order; a step gives counts, true or false, or the reason why it was left out. */
const STEPS = {
  generated: generatedIsFresh,
  'proto-lint': () => succeeds('buf', ['lint']),
  'proto-breaking': contractsAreCompatible,
  build: () => succeeds('tsc', ['-b']),
  types: () => succeeds('tsc', ['-p', 'tsconfig.tests.json']),
  lint: () => succeeds('eslint', ['.', '--max-warnings', '0']),
  format: () => succeeds('prettier', ['--check', '--log-level', 'warn', '.']),
  unit: () =>
    jestOrAgain('unit', [
      '--maxWorkers',
      '2',
      '--testPathIgnorePatterns',
      '/node_modules/',
      '/dist/',
      ...OTHER_SUITES.map((one) => `<rootDir>/${one}`),
    ]),
  integration: () => jestOrAgain('integration', ['--maxWorkers', '2', '--testPathPatterns', '^.*/tests/integration/']),
  conformance: () => jestOrAgain('conformance', ['--runInBand', '--testPathPatterns', '^.*/tests/conformance/']),
  compose: () => {
    if (!hasTests('tests/compose')) return { ...NOTHING };
    const reason = engineMissing();
    if (reason !== undefined) return leftOut(reason, 'REQUIRE_CONTAINERS', containersRequired);
    return jest('compose', ['--runInBand', '--testPathPatterns', '^.*/tests/compose/']);
  },
  chart: () => {
    const reason = helmMissing();
    if (reason !== undefined) return leftOut(reason, 'REQUIRE_CLUSTER', clusterRequired);
    return jest('chart', ['--maxWorkers', '2', '--testPathPatterns', '^.*/tests/chart/']);
  },
  cluster: async () => {
    const reason = helmMissing() ?? clusterMissing();
    if (reason !== undefined) return leftOut(reason, 'REQUIRE_CLUSTER', clusterRequired);
    if (clusterTakesImages && !(await imagesAreLoaded())) return false;
    return jest('cluster', ['--runInBand', '--testPathPatterns', '^.*/tests/cluster/']);
  },
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(STEPS, name));
if (unknown.length > 0) {
  console.error(`No such suite: ${unknown.join(', ')}. There are: ${Object.keys(STEPS).join(', ')}`);
  process.exit(2);
}

/** Tests that failed beside others and passed alone. @type {string[]} */
const passedAlone = [];
/** @type {{ name: string, counts: import('./lib/tally.mjs').Counts, reason?: string }[]} */
const outcomes = [];
for (const [name, step] of Object.entries(STEPS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n== ${name}`);
  const began = performance.now();
  const outcome = await attempt(name, step);
  outcomes.push(outcome);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`== ${name}: ${outcome.reason ?? closingLine(outcome.counts)} (${seconds} s)`);
}

const sum = total(outcomes.map((outcome) => outcome.counts));
console.log('');
for (const { name, counts } of outcomes) if (counts.failed > 0) console.log(`failed: ${name}`);
for (const line of passedAlone) console.log(`failed beside others, passed alone: ${line}`);
for (const { name, reason } of outcomes) if (reason !== undefined) console.log(`skipped: ${name}: ${reason}`);
console.log(closingLine(sum));
process.exitCode = sum.failed > 0 ? 1 : 0;

async function attempt(name, step) {
  try {
    const result = await step();
    if (typeof result === 'string') return { name, counts: ONE_SKIPPED, reason: result };
    if (typeof result === 'boolean') return { name, counts: result ? ONE_PASSED : ONE_FAILED };
    return { name, counts: result };
  } catch (error) {
    console.error(error.message);
    return { name, counts: ONE_FAILED };
  }
}

async function succeeds(program, args) {
  return (await run(program, args)) === 0;
}

async function jestOrAgain(name, args) {
  const first = await jest(name, args);
  if (first.failed === 0) return first;
  const files = failedFiles(resultOf(name));
  if (files.length === 0 || files.length > MAX_FILES_AGAIN) return first;
  console.log(`\n== ${name}: ${closingLine(first)}; once more, alone: what failed`);
  const second = await jest(`${name}-again`, ['--runInBand', '--runTestsByPath', ...files.map(({ file }) => file)]);
  if (second.failed === 0)
    for (const { file, tests } of files) passedAlone.push(`${relative(root, file)}: ${tests.join('; ')}`);
  return countAgain(first, files, second);
}

function resultOf(name) {
  const file = join(results, `${name}.json`);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

async function jest(name, args) {
  // Its own words say what is missing; the tests that need it would only time out one by one.
  const redis = read(process.execPath, [join(root, 'scripts', 'ensure-redis.mjs')], { timeoutMs: 600_000 }).trim();
  mkdirSync(results, { recursive: true });
  const file = join(results, `${name}.json`);
  rmSync(file, { force: true });
  const code = await run(
    process.execPath,
    [
      join(root, 'node_modules', 'jest', 'bin', 'jest.js'),
      ...['--ci', '--passWithNoTests', '--json', '--outputFile', file, ...args],
    ],
    { env: { ...JEST_ENV, REDIS_SERVER_BIN: redis }, timeoutMs: 1_800_000 },
  );
  return countJestResult(resultOf(name), code);
}

function hasTests(folder) {
  const path = join(root, folder);
  return existsSync(path) && readdirSync(path, { recursive: true }).some((name) => name.endsWith('.test.ts'));
}

/** What a step gives that cannot be done here. */
function leftOut(reason, variable, isRequired) {
  if (!isRequired) return `${reason} (${variable}=1 makes this a failure)`;
  console.error(`${reason}, and ${variable}=1 is set`);
  return false;
}

function helmMissing() {
  try {
    read('helm', ['version', '--template', '{{.Version}}'], { timeoutMs: 10_000 });
    return undefined;
  } catch (error) {
    return `helm does not answer: ${error.message}`;
  }
}

/**
 * Why there is no cluster for tests, or undefined when there is one: it answers, and it has our images or is given them.
 * A cluster that somebody works with has neither.
 */
function clusterMissing() {
  try {
    read('kubectl', ['--request-timeout=8s', 'get', '--raw', '/readyz'], { timeoutMs: 10_000 });
    if (clusterTakesImages) return undefined;
    const images = read('kubectl', [
      '--request-timeout=8s',
      'get',
      'nodes',
      '--output',
      'jsonpath={..images[*].names}',
    ]);
    if (images.includes('parley/registry:')) return undefined;
    return 'the cluster has no images of ours, and CLUSTER_LOAD does not say how it takes them';
  } catch (error) {
    return `no cluster answers: ${error.message}`;
  }
}

async function imagesAreLoaded() {
  return (await run(process.execPath, [join(root, 'scripts', 'load-images.mjs')], { timeoutMs: 1_200_000 })) === 0;
}

/** Why there is no engine, or undefined when one answers. */
function engineMissing() {
  try {
    read('docker', ['version', '--format', '{{.Server.Version}}'], { timeoutMs: 10_000 });
    read('docker', ['compose', 'version'], { timeoutMs: 10_000 });
    return undefined;
  } catch (error) {
    return `no Docker engine with compose answers: ${error.message}`;
  }
}
