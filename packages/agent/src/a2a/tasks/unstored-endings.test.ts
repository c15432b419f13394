import type { Task } from '@a2a-js/sdk';
import type { TaskStore } from '@a2a-js/sdk/server';
import { callBy } from '../../../test-support/a2a-engine.js';
import { taskOf } from '../../../test-support/a2a-tasks.js';
import { UnstoredEndings } from './unstored-endings.js';

const call = callBy();
const neverFinal = (): boolean => false;

/** Takes tasks, as long as nothing is wrong with them. */
class Store {
  readonly saved: string[] = [];
  readonly wrong = new Map<string, Error>();

  save(task: Task): Promise<void> {
    const error = this.wrong.get(task.id);
    if (error !== undefined) return Promise.reject(error);
    this.saved.push(task.id);
    return Promise.resolve();
  }

  get asStore(): TaskStore {
    return this as unknown as TaskStore;
  }
}

describe('endings that could not be stored', () => {
  it('are stored once, in the order in which they came', async () => {
    const endings = new UnstoredEndings();
    const store = new Store();
    for (const id of ['a', 'b']) endings.keep(taskOf({ id }), call);
    expect(endings.count).toBe(2);
    await endings.store(store.asStore, neverFinal);
    await endings.store(store.asStore, neverFinal);
    expect([store.saved, endings.count]).toEqual([['a', 'b'], 0]);
  });

  it('wait where the store stops taking them, and are stored later', async () => {
    const endings = new UnstoredEndings();
    const store = new Store();
    const away = new Error('away');
    store.wrong.set('b', away);
    for (const id of ['a', 'b', 'c']) endings.keep(taskOf({ id }), call);
    await expect(endings.store(store.asStore, neverFinal)).rejects.toBe(away);
    expect([store.saved, endings.count]).toEqual([['a'], 2]);
    store.wrong.clear();
    await endings.store(store.asStore, neverFinal);
    expect([store.saved, endings.count]).toEqual([['a', 'b', 'c'], 0]);
  });

  it('are forgotten when the task has ended otherwise, and hold up no other', async () => {
    const endings = new UnstoredEndings();
    const store = new Store();
    const ended = new Error('ended');
    store.wrong.set('a', ended);
    for (const id of ['a', 'b']) endings.keep(taskOf({ id }), call);
    await endings.store(store.asStore, (error) => error === ended);
    expect([store.saved, endings.count]).toEqual([['b'], 0]);
  });

  it('of one task are the last one', async () => {
    const endings = new UnstoredEndings();
    const saved: Task[] = [];
    const [before, after] = [taskOf({ id: 'a' }), taskOf({ id: 'a' })];
    endings.keep(before, call);
    endings.keep(after, call);
    const store = { save: (task: Task) => Promise.resolve(void saved.push(task)) } as unknown as TaskStore;
    await endings.store(store, neverFinal);
    expect(saved).toHaveLength(1);
    expect(saved[0]).toBe(after);
  });

  it('are bounded: the oldest are given up', async () => {
    const endings = new UnstoredEndings();
    const store = new Store();
    for (let index = 0; index < 1_003; index += 1) endings.keep(taskOf({ id: `t${String(index)}` }), call);
    expect(endings.count).toBe(1_000);
    await endings.store(store.asStore, neverFinal);
    expect([store.saved[0], store.saved.at(-1)]).toEqual(['t3', 't1002']);
  });
});
