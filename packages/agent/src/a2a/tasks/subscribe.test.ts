import { jest } from '@jest/globals';
import { TaskState, type StreamResponse, type Task } from '@a2a-js/sdk';
import { TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import fc from 'fast-check';
import {
  asTask,
  callBy,
  echo,
  sending,
  stateIn,
  testEngine,
  wordOf,
  words,
  type TestEngine,
} from '../../../test-support/a2a-engine.js';
import { createMemoryTaskStore } from '../stores/index.js';
import { withArtifact, withStatus } from './task-changes.js';

const call = callBy();

function follow({ handler }: TestEngine, id: string, by = call): AsyncGenerator<StreamResponse, void, undefined> {
  return handler.resubscribe({ tenant: '', id }, by);
}

async function asking(engine: TestEngine): Promise<Task> {
  const answer = engine.handler.sendMessage(sending('one'), call);
  (await engine.executor.work()).end({ state: 'input_required', text: 'two?' });
  return asTask(await answer);
}

describe('a stream', () => {
  it('has the task first, then every update in order, and ends with the task', async () => {
    const { handler, executor } = testEngine();
    const stream = words(handler.sendMessageStream(sending('x'), call));
    const { reporter, end } = await executor.work();
    reporter.working('reading');
    reporter.artifact({ artifactId: 'a', name: 'a', parts: [{ kind: 'text', text: '1' }] });
    reporter.working('writing');
    end({ text: 'done' });
    const told = await stream;
    reporter.working('too late');
    expect(told).toEqual([
      'task:SUBMITTED',
      'WORKING',
      'WORKING(reading)',
      'artifact:a',
      'WORKING(writing)',
      'COMPLETED(done)',
    ]);
  });

  it('ends when the task asks for something', async () => {
    const { handler, executor } = testEngine();
    const stream = words(handler.sendMessageStream(sending('x'), call));
    (await executor.work()).end({ state: 'input_required', text: 'what?' });
    expect((await stream).at(-1)).toBe('INPUT_REQUIRED(what?)');
  });

  it('that its reader leaves does not stop the task, and leaves nobody behind', async () => {
    const engine = testEngine();
    const stream = engine.handler.sendMessageStream(sending('x'), call);
    await stream.next();
    const work = await engine.executor.work();
    await stream.next();
    const pending = stream.next();
    await stream.return();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(work.request.signal.aborted).toBe(false);
    const again = words(follow(engine, work.request.taskId));
    work.end();
    expect(await again).toEqual(['task:WORKING', 'COMPLETED']);
  });

  it('left before it was opened leaves nothing behind either', async () => {
    const { handler, executor, engine } = testEngine();
    const stream = handler.sendMessageStream(sending('x'), call);
    await stream.return();
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect([executor.works.length, engine.running]).toEqual([0, 0]);
  });

  it('is refused by an agent that does not stream', async () => {
    const { handler } = testEngine({ work: echo, cardOver: { capabilities: { streaming: false, extensions: [] } } });
    await expect(handler.sendMessageStream(sending('x'), call).next()).rejects.toThrow(UnsupportedOperationError);
    await expect(handler.resubscribe({ tenant: '', id: 'x' }, call).next()).rejects.toThrow(UnsupportedOperationError);
  });
});

describe('a subscription', () => {
  it('to a task that waits for its client stays, and tells of the next turn', async () => {
    const engine = testEngine();
    const task = await asking(engine);
    const stream = follow(engine, task.id);
    expect(wordOf((await stream.next()).value as StreamResponse)).toBe('task:INPUT_REQUIRED');
    const answer = engine.handler.sendMessage(sending('two', { taskId: task.id }), call);
    (await engine.executor.work(1)).end({ text: 'done' });
    await answer;
    expect(await words(stream)).toEqual(['WORKING', 'WORKING', 'COMPLETED(done)']);
  });

  it('to a task that waits for its client ends when nothing comes', async () => {
    const engine = testEngine({ limits: { taskDeadlineMs: 30 } });
    const task = await asking(engine);
    expect(await words(follow(engine, task.id))).toEqual(['task:INPUT_REQUIRED']);
    expect(stateIn(await engine.handler.getTask({ tenant: '', id: task.id }, call))).toBe('INPUT_REQUIRED');
  });

  it('to a task that has ended is refused, to no task and to somebody else’s alike', async () => {
    const engine = testEngine({ work: echo });
    const task = asTask(await engine.handler.sendMessage(sending('x'), call));
    await expect(follow(engine, task.id).next()).rejects.toThrow(UnsupportedOperationError);
    await expect(follow(engine, 'nowhere').next()).rejects.toThrow(TaskNotFoundError);
    await expect(follow(engine, task.id, callBy('bea')).next()).rejects.toThrow(TaskNotFoundError);
  });

  it('misses no turn that comes and goes while its snapshot is loaded', async () => {
    const store = createMemoryTaskStore();
    const engine = testEngine({ store });
    const task = await asking(engine);
    const load = store.load.bind(store);
    const slow = Promise.withResolvers<undefined>();
    const loading = Promise.withResolvers<undefined>();
    store.load = async (id, by) => {
      const before = await load(id, by);
      store.load = load;
      loading.resolve(undefined);
      await slow.promise;
      return before;
    };
    const first = follow(engine, task.id).next();
    await loading.promise;
    const answer = engine.handler.sendMessage(sending('two', { taskId: task.id }), call);
    (await engine.executor.work(1)).end();
    await answer;
    await new Promise((resolve) => setImmediate(resolve));
    slow.resolve(undefined);
    await expect(first).rejects.toThrow(UnsupportedOperationError);
  });

  it('to a task of another replica is told what the store says', async () => {
    const engine = testEngine();
    const status = { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: '2026-01-01T00:00:00.000Z' };
    const task: Task = { id: 't', contextId: 'c', status, artifacts: [], history: [], metadata: undefined };
    await engine.store.save(task, call);
    jest.useFakeTimers();
    try {
      const stream = words(follow(engine, 't'));
      await jest.advanceTimersByTimeAsync(1_500);
      await engine.store.save({ ...task, status: { ...status, state: TaskState.TASK_STATE_COMPLETED } }, call);
      await jest.advanceTimersByTimeAsync(1_500);
      expect(await stream).toEqual(['task:WORKING', 'task:COMPLETED']);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});

/** A reader's own task, made of the snapshot and of what came after it. */
class Reader {
  readonly done: Promise<void>;
  task: Task | undefined;
  readonly problems: string[] = [];
  readonly #stream: AsyncGenerator<StreamResponse, void, undefined>;

  constructor(stream: AsyncGenerator<StreamResponse, void, undefined>) {
    this.#stream = stream;
    this.done = this.#read();
  }

  async leave(): Promise<void> {
    await this.#stream.return();
    await this.done;
  }

  async #read(): Promise<void> {
    try {
      for await (const { payload } of this.#stream) this.#take(payload);
    } catch (error) {
      if (!(error instanceof UnsupportedOperationError)) throw error;
    }
  }

  #take(payload: StreamResponse['payload']): void {
    if (payload?.$case === 'task') {
      if (this.task !== undefined) this.problems.push('a second snapshot');
      this.task = payload.value;
    } else if (this.task === undefined) this.problems.push('an update before the task');
    else if (payload?.$case === 'statusUpdate' && payload.value.status?.state === TaskState.TASK_STATE_SUBMITTED)
      this.problems.push('what the snapshot had said');
    else if (payload?.$case === 'statusUpdate') this.task = withStatus(this.task, payload.value);
    else if (payload?.$case === 'artifactUpdate') this.task = withArtifact(this.task, payload.value);
  }
}

type Step = 'tell' | 'wait' | 'store' | 'follow' | 'leave' | 'cancel';

describe('whatever happens when', () => {
  it('every reader that stays knows the task as it ended, each event once', async () => {
    const steps = fc.array(
      fc.constantFrom<Step>('tell', 'tell', 'wait', 'store', 'follow', 'follow', 'leave', 'cancel'),
      {
        maxLength: 30,
      },
    );
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), async (plan, heedsAbort) => {
        const store = createMemoryTaskStore();
        const save = store.save.bind(store);
        const load = store.load.bind(store);
        let pause: Promise<unknown> = Promise.resolve();
        store.save = async (task, by) => {
          await pause;
          await save(task, by);
        };
        store.load = async (id, by) => {
          const task = await load(id, by);
          await pause;
          return task;
        };
        const engine = testEngine({ store, limits: { cancelGraceMs: 2 } });
        engine.executor.heedsAbort = heedsAbort;
        const readers = [new Reader(engine.handler.sendMessageStream(sending('x'), call))];
        const { request, reporter, end } = await engine.executor.work();
        const left: Reader[] = [];
        const cancels: Promise<string>[] = [];
        let told = 0;
        for (const step of plan) {
          if (step === 'wait') await new Promise((resolve) => setImmediate(resolve));
          if (step === 'store') pause = new Promise((resolve) => setImmediate(resolve));
          if (step === 'follow') readers.push(new Reader(follow(engine, request.taskId)));
          if (step === 'leave' && readers.length > 1) left.push(...readers.splice(1, 1));
          if (step === 'cancel') {
            const cancel = engine.handler.cancelTask({ tenant: '', id: request.taskId, metadata: undefined }, call);
            cancels.push(cancel.then(stateIn, (error: unknown) => (error as Error).name));
          }
          if (step === 'tell') {
            told += 1;
            const parts = [{ kind: 'text' as const, text: String(told) }];
            reporter.artifact({ artifactId: 'a', name: 'a', parts, append: true });
          }
        }
        await Promise.all(left.map((reader) => reader.leave()));
        end({ text: 'done' });
        await Promise.all([...readers.map(({ done }) => done), ...cancels]);
        const final = await engine.handler.getTask({ tenant: '', id: request.taskId }, call);
        for (const reader of readers) {
          expect(reader.problems).toEqual([]);
          if (reader.task !== undefined) expect({ ...reader.task, history: [] }).toEqual({ ...final, history: [] });
        }
        const outcomes = await Promise.all(cancels);
        expect(outcomes.filter((outcome) => outcome === 'CANCELED').length).toBe(stateIn(final) === 'CANCELED' ? 1 : 0);
        const texts = final.artifacts[0]?.parts.map(({ content }) => (content?.$case === 'text' ? content.value : ''));
        expect(texts ?? []).toEqual(Array.from({ length: texts?.length ?? 0 }, (_, index) => String(index + 1)));
        if (cancels.length === 0) expect(texts?.length ?? 0).toBe(told);
      }),
      { numRuns: 150 },
    );
  }, 60_000);
});
