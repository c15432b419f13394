const MIN_COUNT = 5;

/** More than half of all, and at least five: rather a fault at this side than so many partners gone at once. */
export function isMass(count: number, all: number): boolean {
  return count >= MIN_COUNT && count > all / 2;
}
