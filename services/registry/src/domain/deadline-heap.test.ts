import fc from 'fast-check';
import { DeadlineHeap } from './deadline-heap.js';

interface Item {
  deadlineMs: number;
  heapIndex: number;
}

const item = (deadlineMs: number): Item => ({ deadlineMs, heapIndex: -1 });

test('gives what is due, whatever was added, moved and removed before', () => {
  const step = fc.record({
    what: fc.constantFrom('add', 'add', 'move', 'remove'),
    deadlineMs: fc.integer({ min: 0, max: 50 }),
    which: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: -1, max: 51 }), (steps, untilMs) => {
      const heap = new DeadlineHeap<Item>();
      const items: Item[] = [];
      for (const { what, deadlineMs, which } of steps) {
        const chosen = items[which % Math.max(1, items.length)];
        if (what === 'add' || chosen === undefined) {
          const made = item(deadlineMs);
          items.push(made);
          heap.add(made);
        } else if (what === 'move') {
          chosen.deadlineMs = deadlineMs;
          heap.update(chosen);
        } else {
          items.splice(items.indexOf(chosen), 1);
          heap.remove(chosen);
          expect(chosen.heapIndex).toBe(-1);
        }
      }
      const due = items.filter(({ deadlineMs }) => deadlineMs <= untilMs);
      expect(heap.size).toBe(items.length);
      expect(new Set(heap.due(untilMs, 1_000))).toEqual(new Set(due));
      expect(heap.countDue(untilMs)).toBe(due.length);
      expect(heap.due(untilMs, 3)).toHaveLength(Math.min(3, due.length));
      const sorted: number[] = [];
      for (let first = heap.peek(); first !== undefined; first = heap.peek()) {
        sorted.push(first.deadlineMs);
        heap.remove(first);
      }
      expect(sorted).toEqual(items.map(({ deadlineMs }) => deadlineMs).sort((a, b) => a - b));
    }),
  );
});

test('an item that is not in the heap is left alone', () => {
  const heap = new DeadlineHeap<Item>();
  const inside = item(5);
  heap.add(inside);
  const outside = item(1);
  heap.remove(outside);
  heap.update(outside);
  expect(heap.size).toBe(1);
  expect(heap.peek()).toBe(inside);
});
