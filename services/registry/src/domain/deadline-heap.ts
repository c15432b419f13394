/** What the heap orders. `heapIndex` belongs to the heap: it makes a renewal a step down instead of a search. */
export interface Due {
  readonly deadlineMs: number;
  heapIndex: number;
}

/** A binary heap by deadline: what is due first stands first, and looking at it costs only what is due. */
export class DeadlineHeap<T extends Due> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    item.heapIndex = this.#items.length;
    this.#items.push(item);
    this.#up(item);
  }

  /** No-op for an item that is not in the heap. */
  remove(item: T): void {
    const at = item.heapIndex;
    if (this.#items[at] !== item) return;
    item.heapIndex = -1;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#place(last, at);
    this.update(last);
  }

  /** After the deadline of an item has changed. */
  update(item: T): void {
    if (this.#items[item.heapIndex] !== item) return;
    this.#up(item);
    this.#down(item);
  }

  /** At most `limit` items with a deadline at or before `untilMs`, in no particular order. */
  due(untilMs: number, limit: number): T[] {
    const found: T[] = [];
    this.#walk(untilMs, (item) => found.push(item) < limit);
    return found;
  }

  countDue(untilMs: number): number {
    let count = 0;
    this.#walk(untilMs, () => {
      count++;
      return true;
    });
    return count;
  }

  /** Below an item that is not due nothing is, so only due items and their children are looked at. */
  #walk(untilMs: number, visit: (item: T) => boolean): void {
    const open = [0];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const item = this.#items[at];
      if (item === undefined || item.deadlineMs > untilMs) continue;
      if (!visit(item)) return;
      open.push(2 * at + 2, 2 * at + 1);
    }
  }

  #up(item: T): void {
    let at = item.heapIndex;
    while (at > 0) {
      const above = (at - 1) >>> 1;
      const parent = this.#items[above];
      if (parent === undefined || parent.deadlineMs <= item.deadlineMs) break;
      this.#place(parent, at);
      at = above;
    }
    this.#place(item, at);
  }

  #down(item: T): void {
    let at = item.heapIndex;
    for (;;) {
      const left = this.#items[2 * at + 1];
      const right = this.#items[2 * at + 2];
      const child = right !== undefined && left !== undefined && right.deadlineMs < left.deadlineMs ? right : left;
      if (child === undefined || child.deadlineMs >= item.deadlineMs) break;
      const below = child.heapIndex;
      this.#place(child, at);
      at = below;
    }
    this.#place(item, at);
  }

  #place(item: T, at: number): void {
    this.#items[at] = item;
    item.heapIndex = at;
  }
}
