import { familyRegistry } from './family-registry.js';

/** First look at what a process started, in milliseconds; then at growing distances, while it runs. */
const FIRST_LOOK_MS = 100;
const LOOK_GROWTH = 4;
const LONGEST_LOOK_MS = 30_000;

/** Looks at the tree now and then: those who lose their parent later are known by then. Returns what stops it. */
export function watchFamilies(): () => void {
  let pause = FIRST_LOOK_MS;
  let timer: NodeJS.Timeout | undefined;
  const schedule = () => {
    timer = setTimeout(() => {
      familyRegistry.remember();
      pause = Math.min(pause * LOOK_GROWTH, LONGEST_LOOK_MS);
      schedule();
    }, pause).unref();
  };
  schedule();
  return () => clearTimeout(timer);
}
