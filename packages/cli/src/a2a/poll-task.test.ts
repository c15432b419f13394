import type { A2aTask } from '@parley/agent';
import { failure, FakeConnection, task } from '../../test-support/fake-connection.js';
import { pollTask } from './poll-task.js';

function poll(first: A2aTask, later: (A2aTask | Error)[], isFollowUp = false) {
  const connection = new FakeConnection();
  connection.tasks = later;
  const waits: number[] = [];
  const wait = async (ms: number): Promise<void> => void waits.push(Math.round(ms));
  const updates = pollTask(connection, first, { signal: new AbortController().signal, isFollowUp, wait });
  const states = async (): Promise<string[]> => {
    const seen: string[] = [];
    for await (const update of updates) seen.push(update.kind === 'task' ? update.task.state : update.kind);
    return seen;
  };
  return { waits, states: states() };
}

describe('pollTask', () => {
  it('asks less and less often, and gives what is new', async () => {
    const same = Array.from({ length: 8 }, () => task('working'));
    const { states, waits } = poll(task('submitted'), [...same, task('completed')]);
    expect(await states).toEqual(['submitted', 'working', 'completed']);
    expect(waits).toEqual([250, 375, 563, 844, 1266, 1898, 2848, 3000, 3000]);
  });

  it('asks nothing of a task that is settled', async () => {
    const { states, waits } = poll(task('input_required'), []);
    expect(await states).toEqual(['input_required']);
    expect(waits).toEqual([]);
  });

  it('looks twice whether a task still asks for what it was just given', async () => {
    expect(await poll(task('input_required'), [task('completed')], true).states).toEqual([
      'input_required',
      'completed',
    ]);
    expect(await poll(task('input_required'), [task('input_required')], true).states).toEqual(['input_required']);
  });

  it('gets over lost answers, but not over many', async () => {
    const lost = failure('peer_unreachable', 'gone', { reason: 'unavailable' });
    expect(await poll(task('working'), [lost, lost, task('completed')]).states).toEqual(['working', 'completed']);
    await expect(poll(task('working'), [lost]).states).rejects.toThrow('gone');
    const { states, waits } = poll(task('working'), [failure('task_not_found', 'no', { reason: 'not_found' })]);
    await expect(states).rejects.toThrow('no');
    expect(waits).toEqual([250]);
  });

  it('ends when it is aborted', async () => {
    const controller = new AbortController();
    const updates = pollTask(new FakeConnection(), task('working'), { signal: controller.signal, isFollowUp: false });
    await updates.next();
    const next = updates.next();
    controller.abort();
    await expect(next).rejects.toThrow('aborted');
  });
});
