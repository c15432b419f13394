/** The part of the package that is used here; it ships no types of its own. */
declare module 'fs-native-extensions' {
  /**
   * Asks for a lock on a whole file without waiting: an open-file-description lock on Linux, `flock` on macOS. Two
   * descriptors of one process exclude each other like those of two processes.
   *
   * @returns false if another descriptor holds it.
   */
  export function tryLock(fd: number): boolean;
  export function unlock(fd: number): void;
}
