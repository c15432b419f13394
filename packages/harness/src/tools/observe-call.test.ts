import type { RunObserver } from '../run-observer.js';
import { contents, gated, recordedTurn, started, write } from './recorded-turn.test-helper.js';
import { StepOutcome } from './step-outcome.js';

describe('observers', () => {
  const observer = (aroundToolCall: RunObserver['aroundToolCall']): RunObserver => ({
    aroundRun: (_run, work) => work(),
    aroundModelRequest: (_request, work) => work(),
    aroundToolCall,
  });

  async function observed(observers: readonly RunObserver[], calls = ['w']) {
    let runs = 0;
    const warnings: string[] = [];
    const runtime = await started([write('w', () => (runs += 1))], {
      logger: { warn: (message) => warnings.push(message) },
    });
    const turn = recordedTurn(calls, { observers });
    await runtime.runTurn(turn);
    return { turn, warnings, runs };
  }

  it('are around each call, the first outermost, and see call, tool and result', async () => {
    const log: unknown[] = [];
    const logging = (name: string) =>
      observer(async (call, work) => {
        log.push(`${name}+ ${call.toolCall.id} ${call.tool?.name ?? 'unknown'}`);
        const result = await work();
        log.push(`${name}- ${result.message.content}`);
        return result;
      });
    await observed([logging('a'), logging('b')]);
    expect(log).toEqual(['a+ c1 w', 'b+ c1 w', 'b- 1', 'a- 1']);
    const unknown: unknown[] = [];
    await observed([observer((call, work) => (unknown.push(call.tool), work()))], ['nope']);
    expect(unknown).toEqual([undefined]);
  });

  it.each<[string, RunObserver['aroundToolCall'], number]>([
    ['throws before', () => Promise.reject(new Error('otel')), 1],
    [
      'throws at once',
      () => {
        throw new Error('otel');
      },
      1,
    ],
    [
      'throws after',
      async (_call, work) => {
        await work();
        throw new Error('otel');
      },
      1,
    ],
    ['never calls', () => Promise.resolve({} as never), 0],
    ['calls twice', async (_call, work) => (await work(), await work()), 0],
  ])('that break their contract change nothing: %s', async (_title, around, warned) => {
    const { turn, warnings, runs } = await observed([observer(around)]);
    expect(contents(turn)).toEqual(['1']);
    expect(runs).toBe(1);
    expect(warnings).toHaveLength(warned);
  });

  it('are not around calls that never start', async () => {
    const seen: string[] = [];
    const runtime = await started([write('end', () => new StepOutcome('', { control: 'complete' })), gated('w').tool]);
    const turn = recordedTurn(['end', 'w'], {
      observers: [observer((call, work) => (seen.push(call.toolCall.id), work()))],
    });
    await runtime.runTurn(turn);
    expect(seen).toEqual(['c1']);
  });
});
