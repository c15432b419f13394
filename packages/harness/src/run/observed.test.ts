import { Lab } from '../../test-support/lab.js';
import { call, say } from '../model/scripted-model.js';
import type { RunObserver } from '../run-observer.js';

function observer(log: string[], name: string): RunObserver {
  const around = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    log.push(`${name} > ${what}`);
    try {
      return await work();
    } finally {
      log.push(`${name} < ${what}`);
    }
  };
  return {
    aroundRun: ({ task, sessionId, intent, modelName }, work) =>
      around(`run ${[task, sessionId, intent, modelName].join(' ')}`, work),
    aroundModelRequest: ({ turn, request }, work) =>
      around(`request ${String(turn)} ${String(request.messages.length)}`, work),
    aroundToolCall: ({ toolCall }, work) => around(`call ${toolCall.id}`, work),
  };
}

describe('run observers', () => {
  it('are around runs, requests and calls, the first one outermost', async () => {
    const log: string[] = [];
    const lab = new Lab([say(null, call('c1', 'write')), say('done')], {
      observers: [observer(log, 'a'), observer(log, 'b')],
    });
    await lab.run();
    expect(log).toEqual([
      ...['a > run go  task scripted', 'b > run go  task scripted'],
      ...['a > request 1 2', 'b > request 1 2', 'b < request 1 2', 'a < request 1 2'],
      ...['a > call c1', 'b > call c1', 'b < call c1', 'a < call c1'],
      ...['a > request 2 4', 'b > request 2 4', 'b < request 2 4', 'a < request 2 4'],
      ...['b < run go  task scripted', 'a < run go  task scripted'],
    ]);
  });

  it('see a failing request fail', async () => {
    const seen: unknown[] = [];
    const pass: RunObserver = {
      aroundRun: (_run, work) => work(),
      aroundToolCall: (_call, work) => work(),
      aroundModelRequest: async (_request, work) => {
        try {
          return await work();
        } catch (error) {
          seen.push(error);
          throw error;
        }
      },
    };
    const down = new Error('down');
    const lab = new Lab([down], { observers: [pass] });
    expect(await lab.run()).toMatchObject({ stopReason: 'runtime_error', error: 'down' });
    expect(seen).toEqual([down]);
    expect(lab.warnings).toEqual([]);
  });

  it.each<[string, (work: () => Promise<never>) => Promise<never>]>([
    ['throws before', () => Promise.reject(new Error('before'))],
    ['throws after', async (work) => (await work(), Promise.reject(new Error('after')))],
    ['calls twice', async (work) => (await work(), work())],
    ['forgets to call', () => Promise.resolve('nothing' as never)],
  ])('that %s hurt nobody', async (_name, around) => {
    const broken: RunObserver = {
      aroundRun: (_run, work) => around(work as () => Promise<never>),
      aroundModelRequest: (_request, work) => around(work as () => Promise<never>),
      aroundToolCall: (_call, work) => work(),
    };
    const lab = new Lab([say('fine')], { observers: [broken] });
    expect(await lab.run()).toMatchObject({ stopReason: 'text_response', output: 'fine' });
    expect(lab.model.requests).toHaveLength(1);
  });
});
