import { TaskState, type ListTasksRequest } from '@a2a-js/sdk';
import fc from 'fast-check';
import { artifactOf, callOf, listRequest, taskOf, textMessage, withState } from '../../../test-support/a2a-tasks.js';
import { manualClock, START, type ManualClock } from '../../../test-support/keeper-fixture.js';
import { taskStores } from '../../../test-support/task-stores.js';
import type { AgentTaskStore } from './agent-task-store.js';

const { kinds } = taskStores();

const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];
const states = fc.constantFrom(...[1, 2, 3, 4, 5, 6, 7, 8].map((state) => state as TaskState));
const callers = fc.constantFrom('alice', 'bob');
const ids = fc.constantFrom(...IDS);

type Step =
  | { kind: 'publish'; id: string; caller: string; state: TaskState; at: number }
  | { kind: 'change'; id: string; caller: string; state: TaskState; between: TaskState | undefined }
  | { kind: 'list'; caller: string; filter: Partial<ListTasksRequest> }
  | { kind: 'wait'; ms: number }
  | { kind: 'clean' };

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('publish' as const), id: ids, caller: callers, state: states, at: fc.integer({ min: 0, max: 3 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('change' as const), id: ids, caller: callers, state: states, between: fc.option(states, { nil: undefined }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('list' as const), caller: callers, filter: fc.record({
    contextId: fc.constantFrom('', 'c-0', 'c-1'),
    status: fc.constantFrom(TaskState.TASK_STATE_UNSPECIFIED, TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED),
    pageSize: fc.constantFrom(1, 2, 50),
    statusTimestampAfter: fc.constantFrom(undefined, new Date(START + 1_000).toISOString()),
  }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, 50_000, 100_000, 300_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clean' as const) }) },
); // prettier-ignore

/** Message ids of a failure are drawn; nothing else differs. */
const settled = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null).replace(/"messageId":"[0-9a-f-]{36}"/gu, '"messageId":""'));

class Run {
  readonly #clock: ManualClock;
  #store: AgentTaskStore;
  readonly #successor: () => Promise<AgentTaskStore>;
  #changes = 0;

  constructor(clock: ManualClock, store: AgentTaskStore, successor: () => Promise<AgentTaskStore>) {
    this.#clock = clock;
    this.#store = store;
    this.#successor = successor;
  }

  async take(step: Step): Promise<unknown> {
    try {
      return await this.#take(step);
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    }
  }

  async #take(step: Step): Promise<unknown> {
    if (step.kind === 'wait') {
      this.#clock.advance(step.ms);
      return undefined;
    }
    if (step.kind === 'clean') {
      this.#store = await this.#successor();
      return this.#store.failInterrupted('gone');
    }
    const call = callOf(step.caller);
    if (step.kind === 'list') return this.#pages(step.filter, step.caller);
    if (step.kind === 'publish') {
      const { id, state, at } = step;
      const contextId = `c-${String(IDS.indexOf(id) % 2)}`;
      await this.#store.save(taskOf({ id, contextId, state, at: START + at * 1_000 }), call);
      return this.#store.load(id, call);
    }
    return this.#change(step);
  }

  async #change({ id, caller, state, between }: Step & { kind: 'change' }): Promise<unknown> {
    const call = callOf(caller);
    const task = await this.#store.load(id, call);
    const other = await this.#store.load(id, call);
    if (task === undefined || other === undefined) return undefined;
    this.#changes += 1;
    if (between !== undefined) {
      other.status = withState(other, between).status;
      other.artifacts.push(artifactOf(`a-${String(this.#changes)}`, 'x'));
      await this.#store.save(other, call).catch(() => undefined);
    }
    task.status = withState(task, state, START + 2_000).status;
    task.history.push(textMessage(`m-${String(this.#changes)}`));
    await this.#store.save(task, call);
    return this.#store.load(id, call);
  }

  async #pages(filter: Partial<ListTasksRequest>, caller: string): Promise<unknown> {
    const pages: unknown[] = [];
    let pageToken = '';
    do {
      const page = await this.#store.list(
        listRequest({ ...filter, pageToken, includeArtifacts: true }),
        callOf(caller),
      );
      pages.push(page);
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    return pages;
  }
}

// What comes to its end in the same millisecond is forgotten in no certain order, as all that is interrupted is.
it.each([
  ['with too many tasks', 5, steps.filter(({ kind }) => kind !== 'clean')],
  ['with processes that die', 50, steps],
])(
  'both stores answer the same to whatever is done to them, %s',
  async (_, maxTasks, step) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (plan) => {
        const clocks: ManualClock[] = [];
        const runs = kinds.map(([, create]) => {
          const clock = manualClock();
          clocks.push(clock);
          const { store, successor } = create(clock, { maxTasks, keepEndedMs: 200_000, keepWaitingMs: 400_000 });
          let latest = store;
          return new Run(clock, store, async () => {
            await latest.close();
            latest = await successor();
            return latest;
          });
        });
        for (const next of plan) {
          for (const clock of clocks) clock.advance(1);
          const [memory, redis] = await Promise.all(runs.map((run) => run.take(next)));
          expect(settled(redis)).toEqual(settled(memory));
        }
      }),
      { numRuns: 50 },
    );
  },
  60_000,
);
