import type { TerminalInput, TerminalOutput } from './ui/terminal.js';

/** Where text for people or programs goes. */
export interface TextOutput extends TerminalOutput {
  on(event: 'resize' | 'error' | 'drain' | 'close', listener: () => void): unknown;
  off(event: 'resize' | 'error' | 'drain' | 'close', listener: () => void): unknown;
}

/** Signals and the end of the process. */
export interface ProcessEvents {
  on(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
}

/** All that the program uses of its surroundings. */
export interface CliIo {
  readonly stdin: TerminalInput;
  readonly stdout: TextOutput;
  readonly stderr: TextOutput;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder in which the program was started. */
  readonly cwd: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly process: ProcessEvents;
  /** Stops the process group until it is continued. */
  readonly stopGroup: () => void;
}
