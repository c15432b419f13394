import { TaskState } from '@a2a-js/sdk';
import { waitFor } from '@parley/testkit';
import { callOf, pushConfig, statusUpdate } from '../../../test-support/a2a-tasks.js';
import { startJsonServer, TAKEN } from '../../../test-support/json-server.js';
import { idle, pushFixture, readBy, receiver, wordsOf, type PushFixture } from '../../../test-support/push-fixture.js';

const alice = callOf('alice');
let fixture: PushFixture;

beforeEach(() => {
  fixture = pushFixture();
});

afterEach(() => fixture.end());

describe('what waits is bounded', () => {
  it('for one receiver: of 10,000 updates the newest are kept, in order, the last among them', async () => {
    const target = await startJsonServer(() => TAKEN);
    await fixture.register(target.url);
    const sender = fixture.sender({ maxQueuedPerTask: 50, timeoutMs: 60_000 });
    let most = 0;
    for (let count = 0; count < 10_000; count += 1) {
      await sender.send(statusUpdate(String(count)), alice);
      // Lets what was asked of the store come back now and then.
      if (count % 100 === 0) await new Promise(setImmediate);
      most = Math.max(most, sender.pending);
    }
    await waitFor(() => target.requests.length === 1);
    await waitFor(() => sender.pending <= 50);
    expect(most).toBeLessThanOrEqual(100);
    expect(fixture.warnings().length).toBeGreaterThan(0);
    expect(fixture.warnings().length).toBeLessThan(10);
    target.requests[0]?.response.end();
    for (let count = 2; count <= 50; count += 1) {
      await waitFor(() => target.requests.length === count);
      target.requests[count - 1]?.response.end();
    }
    await idle(sender);
    const words = wordsOf(target);
    expect(words).toHaveLength(50);
    expect(words.slice(1)).toEqual(Array.from({ length: 49 }, (_, index) => String(9_951 + index)));
  });

  it('in all, by number and by size', async () => {
    const target = await startJsonServer(() => TAKEN);
    for (let index = 0; index < 40; index += 1) {
      const taskId = `task-${String(index)}`;
      await fixture.store.save(taskId, alice, pushConfig(target.url, { taskId }));
    }
    const byNumber = fixture.sender({ maxQueued: 25, timeoutMs: 60_000 });
    const bySize = fixture.sender({ maxQueuedBytes: 50_000, timeoutMs: 60_000 });
    for (let index = 0; index < 40; index += 1) {
      const taskId = `task-${String(index)}`;
      await byNumber.send(statusUpdate('x', undefined, taskId), alice);
      await bySize.send(statusUpdate('x'.repeat(5_000), undefined, taskId), alice);
      await new Promise(setImmediate);
    }
    await waitFor(() => byNumber.pending === 25);
    // Each body has the text twice.
    await waitFor(() => bySize.pending === 4);
  });

  it('while the store is silent', async () => {
    const silent = readBy(fixture.store, () => new Promise(() => undefined));
    const sender = fixture.sender({ store: silent, maxQueuedPerTask: 10, maxQueued: 25 });
    for (let index = 0; index < 100; index += 1) {
      await sender.send(statusUpdate('x', undefined, `task-${String(index % 5)}`), alice);
    }
    expect(sender.pending).toBeLessThanOrEqual(25);
    await sender.close();
    expect(sender.pending).toBe(0);
  });
});

it('a store that cannot be read costs the notification, not the task', async () => {
  const broken = readBy(fixture.store, () => Promise.reject(new Error('away')));
  const sender = fixture.sender({ store: broken });
  await sender.send(statusUpdate('1'), alice);
  await idle(sender);
  expect(fixture.warnings()).toMatchObject([{ task_id: 'task-1' }]);
});

describe('closing', () => {
  it('waits for what is on its way', async () => {
    const target = await receiver(503, 200);
    await fixture.register(target.url);
    const sender = fixture.sender({ closeTimeoutMs: 5_000 });
    await sender.send(statusUpdate('1'), alice);
    await sender.send(statusUpdate('2', TaskState.TASK_STATE_COMPLETED), alice);
    await sender.close();
    expect(wordsOf(target)).toEqual(['1', '1', '2']);
    // Sooner than an idle connection ends by itself.
    await waitFor(() => target.sockets.size === 0, { timeoutMs: 1_500 });
    await sender.send(statusUpdate('3'), alice);
    expect(sender.pending).toBe(0);
  });

  it('does not wait for ever, and leaves no connection behind', async () => {
    const target = await startJsonServer(() => TAKEN);
    await fixture.register(target.url);
    const sender = fixture.sender({ closeTimeoutMs: 20, timeoutMs: 60_000 });
    await sender.send(statusUpdate('1'), alice);
    await sender.send(statusUpdate('2'), alice);
    await waitFor(() => target.requests.length === 1);
    await Promise.all([sender.close(), sender.close()]);
    await waitFor(() => target.sockets.size === 0);
    expect(sender.pending).toBe(0);
    expect(fixture.warnings()).toMatchObject([{ count: 2 }]);
    expect(target.requests).toHaveLength(1);
  });

  it('ends the wait before another try', async () => {
    const target = await receiver(503);
    await fixture.register(target.url);
    const sender = fixture.sender({ closeTimeoutMs: 20, backoffMs: 600_000, maxBackoffMs: 600_000 });
    await sender.send(statusUpdate('1'), alice);
    await waitFor(() => target.requests.length === 1);
    await sender.close();
    expect(target.requests).toHaveLength(1);
  });
});
