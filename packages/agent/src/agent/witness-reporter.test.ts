import { AppError, silentLogger } from '@parley/service-kit';
import { agreementOf } from '../../test-support/agreements.js';
import type { Agreement } from '../wire/agreement.js';
import { WitnessReporter } from './witness-reporter.js';

const { jest } = import.meta;

function start(maxQueued = 1_000) {
  const sent: { agreement: Agreement; ownerToken: string }[] = [];
  const warnings: string[] = [];
  const state: { fails?: AppError; token: string } = { token: 'first' };
  const reporter = new WitnessReporter({
    client: {
      target: 'http://registry',
      reportAgreement: (agreement, { ownerToken }) => {
        sent.push({ agreement, ownerToken });
        return state.fails === undefined
          ? Promise.resolve({ agreement_id: agreement.agreement_id, recorded: true })
          : Promise.reject(state.fails);
      },
    },
    ownerToken: () => state.token,
    logger: { ...silentLogger, warn: (message) => warnings.push(message) },
    random: () => 0.5,
    maxQueued,
  });
  return { reporter, sent, warnings, state, pass: (ms: number) => jest.advanceTimersByTimeAsync(ms) };
}

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

it('each transition is reported in order and repeated until it is taken', async () => {
  const { reporter, sent, state, warnings, pass } = start();
  state.fails = new AppError('unavailable', 'away');
  reporter.report(agreementOf({ version: 1, state: 'pending' }));
  reporter.report(agreementOf({ version: 2 }));
  reporter.report(agreementOf({ agreement_id: 'g2', version: 2 }));
  await pass(60_000);
  expect(sent.length).toBeGreaterThan(5);
  expect(warnings).toHaveLength(1);
  reporter.report(agreementOf({ version: 3, state: 'ended' }));
  sent.length = 0;
  delete state.fails;
  state.token = 'second';
  await pass(10_000);
  expect(sent.map(({ agreement, ownerToken }) => [agreement.agreement_id, agreement.version, ownerToken])).toEqual([
    ['g1', 2, 'second'],
    ['g2', 2, 'second'],
    ['g1', 3, 'second'],
  ]);
  await pass(60_000);
  expect(sent).toHaveLength(3);
});

it('several agreements are reported at once, the transitions of one never', async () => {
  const { reporter, sent, pass } = start();
  for (const id of ['g1', 'g2', 'g3']) {
    reporter.report(agreementOf({ agreement_id: id, version: 2 }));
    reporter.report(agreementOf({ agreement_id: id, version: 3, state: 'ended' }));
  }
  await pass(1);
  const told = sent.map(({ agreement }) => `${agreement.agreement_id} ${String(agreement.version)}`);
  expect(told.sort()).toEqual(['g1 2', 'g1 3', 'g2 2', 'g2 3', 'g3 2', 'g3 3']);
  for (const id of ['g1', 'g2', 'g3']) {
    const versions = sent
      .filter(({ agreement }) => agreement.agreement_id === id)
      .map(({ agreement }) => agreement.version);
    expect(versions).toEqual([2, 3]);
  }
});

it('a refused report is left out and holds nothing up; one before the registration stands is not refused', async () => {
  const { reporter, sent, state, warnings, pass } = start();
  state.fails = new AppError('forbidden', 'not the owner');
  reporter.report(agreementOf());
  await pass(10_000);
  expect(sent).toHaveLength(1);
  expect(warnings).toHaveLength(1);
  state.fails = new AppError('not_found', 'not registered');
  reporter.report(agreementOf({ version: 2 }));
  await pass(1_000);
  delete state.fails;
  await pass(10_000);
  expect(sent.at(-1)?.agreement.version).toBe(2);
});

it('the queue is bounded, and the oldest is left out', async () => {
  const { reporter, sent, state, pass } = start(2);
  state.fails = new AppError('unavailable', 'away');
  for (const id of ['g1', 'g2', 'g3']) reporter.report(agreementOf({ agreement_id: id }));
  await pass(100);
  sent.length = 0;
  delete state.fails;
  await pass(20_000);
  expect(sent.map(({ agreement }) => agreement.agreement_id)).toEqual(['g2', 'g3']);
});

it('a flush waits for what is queued, but not for ever, and stopping leaves nothing behind', async () => {
  const { reporter, sent, state, pass } = start();
  reporter.report(agreementOf());
  await reporter.flush(1_000);
  expect(sent).toHaveLength(1);
  state.fails = new AppError('unavailable', 'away');
  reporter.report(agreementOf({ version: 2 }));
  const flushed = reporter.flush(1_000);
  await pass(1_000);
  await flushed;
  await reporter.stop();
  reporter.report(agreementOf({ version: 3 }));
  const before = sent.length;
  await pass(60_000);
  expect(sent).toHaveLength(before);
  expect(jest.getTimerCount()).toBe(0);
});
