import { contents, order, recordedTurn, settle, started, untilSignal, write } from './recorded-turn.test-helper.js';
import type { ToolCallContext } from './tool-handler.js';
import type { ToolProgressReporter } from './tool-progress.js';

async function single(run: (args: Record<string, unknown>, context: ToolCallContext) => unknown) {
  const runtime = await started([write('w', run)]);
  const turn = recordedTurn(['w']);
  await runtime.runTurn(turn);
  return { turn };
}

describe('progress', () => {
  it('is shown in order, before the result, even if the tool does not wait for it', async () => {
    const { turn } = await single((_args, { progress }) => {
      void progress.report({ message: 'half', data: { done: 1 } });
      void progress.report({ message: 'full' });
      return 'reported';
    });
    expect(order(turn)).toEqual(['started c1', 'progressed c1', 'progressed c1', 'completed c1']);
    expect(turn.events.flatMap((event) => (event.kind === 'tool_progressed' ? [event.update] : []))).toEqual([
      { message: 'half', data: { done: 1 } },
      { message: 'full' },
    ]);
  });

  it('is taken as it was when it was reported', async () => {
    const { turn } = await single(async (_args, { progress }) => {
      const data = { done: 1 };
      const shown = progress.report({ message: 'x', data });
      data.done = 2;
      await shown;
    });
    expect(turn.events.find((event) => event.kind === 'tool_progressed')).toMatchObject({
      update: { data: { done: 1 } },
    });
  });

  it('is dropped once the call has completed', async () => {
    let kept: ToolProgressReporter | undefined;
    const { turn } = await single((_args, { progress }) => {
      kept = progress;
    });
    await kept?.report({ message: 'too late' });
    expect(order(turn)).toEqual(['started c1', 'completed c1']);
  });

  it('is dropped once the run was aborted', async () => {
    const runtime = await started([
      write('w', async (_args, context) => {
        await untilSignal(context).catch(() => context.progress.report({ message: 'after' }));
        return 'done';
      }),
    ]);
    const turn = recordedTurn(['w']);
    const running = runtime.runTurn(turn);
    await settle();
    turn.controller.abort(new Error('stop'));
    await running;
    expect(order(turn)).toEqual(['started c1', 'completed c1']);
  });

  it('that cannot be shown harms nobody', async () => {
    const warnings: string[] = [];
    const runtime = await started(
      [
        write('w', async (_args, { progress }) => {
          await progress.report({ message: 'x' });
          await progress.report({ message: 7 as unknown as string });
          await progress.report(null as unknown as { message: string });
          return 'fine';
        }),
      ],
      { logger: { warn: (message) => warnings.push(message) } },
    );
    const turn = recordedTurn(['w'], {
      onEvent: ({ kind }) => (kind === 'tool_progressed' ? Promise.reject(new Error('sink')) : undefined),
    });
    await expect(runtime.runTurn(turn)).resolves.toEqual({ kind: 'continue' });
    expect(contents(turn)).toEqual(['fine']);
    expect(warnings).toEqual([
      'tool progress could not be shown',
      'tool progress was dropped',
      'tool progress was dropped',
    ]);
  });

  it('that nobody waits for is bounded', async () => {
    const { turn } = await single((_args, { progress }) => {
      for (let step = 0; step < 5_000; step += 1) void progress.report({ message: 'flood' });
    });
    expect(turn.events.filter((event) => event.kind === 'tool_progressed')).toHaveLength(1_000);
  });
});
