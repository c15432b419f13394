import type { Message } from '@parley/harness';
import { type FakeIo, fakeIo, type FakeIoOptions } from './fake-io.js';
import { FakeSessions } from './fake-sessions.js';
import { runInteractive } from '../src/interactive/run-interactive.js';

export interface StartedShell {
  readonly io: FakeIo;
  readonly sessions: FakeSessions;
  readonly exitCode: Promise<number>;
  type(keys: string): void;
  shows(text: string | RegExp): Promise<void>;
}

/** Of the session `old`. */
export const HISTORY: readonly Message[] = [
  { role: 'user', content: 'what was before' },
  { role: 'assistant', content: 'an answer of before', toolCalls: [] },
];

const running: StartedShell[] = [];

/** The interactive program on a terminal in memory, with agents that do what the test says. */
export async function startShell(options: FakeIoOptions & { readonly task?: string } = {}): Promise<StartedShell> {
  const io = fakeIo(options);
  let sessions: FakeSessions | undefined;
  const exitCode = runInteractive({
    io,
    connect: (ports) => {
      sessions = new FakeSessions(ports);
      sessions.histories.set('old', HISTORY);
      return sessions;
    },
    open: (all) => all.create('one'),
    task: options.task,
    header: ['parley test'],
    facts: [['model', 'fake']],
  });
  await io.tty.shows('session one');
  if (sessions === undefined) throw new Error('never connected');
  const started = {
    io,
    sessions,
    exitCode,
    type: (keys: string) => io.tty.type(keys),
    shows: (text: string | RegExp) => io.tty.shows(text),
  };
  running.push(started);
  return started;
}

/** Ends what was started; the terminal must have been given back and no listener be left. */
export async function endShells(): Promise<void> {
  for (const { io, exitCode } of running.splice(0)) {
    io.signals.emit('SIGTERM');
    io.signals.emit('SIGTERM');
    await exitCode;
    expect(io.tty).toMatchObject({ isRaw: false, isReading: false });
    expect(io.tty.screen.isPasteMode).toBe(io.tty.isDeaf);
    expect(io.signals.eventNames()).toEqual([]);
  }
}
