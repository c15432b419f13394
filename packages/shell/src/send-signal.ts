import { systemCode } from './system-code.js';

/** Signals a process, or with a negative number a group. False if there is nobody to get it. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    // There, but somebody else's, such as a program that runs as another user.
    return systemCode(error) === 'EPERM';
  }
}
