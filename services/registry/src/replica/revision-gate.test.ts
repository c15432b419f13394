import { RevisionGate } from './revision-gate.js';

test('opens for each when its revision is reached, one by one or in a leap', async () => {
  const gate = new RevisionGate();
  const opened: string[] = [];
  const wait = async (name: string, revision: number): Promise<void> => {
    if (await gate.wait(revision, 5_000)) opened.push(name);
  };
  gate.advance(10);
  const all = [wait('past', 10), wait('first', 11), wait('also first', 11), wait('second', 12), wait('far', 40)];
  gate.advance(11);
  await Promise.resolve();
  await Promise.all(all.slice(0, 3));
  expect(opened).toEqual(['past', 'first', 'also first']);
  gate.advance(12);
  await all[3];
  gate.advance(100);
  await all[4];
  expect(opened).toEqual(['past', 'first', 'also first', 'second', 'far']);
  expect(gate.reached).toBe(100);
});

test('tells when the time is over, and closes for all at once', async () => {
  const gate = new RevisionGate();
  expect(await gate.wait(1, 5)).toBe(false);
  const waits = [gate.wait(1, 60_000), gate.wait(2, 60_000), gate.wait(2, 60_000)];
  gate.close();
  expect(await Promise.all(waits)).toEqual([false, false, false]);
});
