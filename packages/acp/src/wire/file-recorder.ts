import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { TrafficRecorder, type TrafficRecorderOptions } from './traffic-recorder.js';

export interface FileRecorder {
  readonly recorder: TrafficRecorder;
  /** Resolves when everything is in the file. Rejects with what the system says if it could not be written. */
  close(): Promise<void>;
}

/** Records into a new file, which only its owner may read. A file that cannot be written disturbs no run. */
export function fileRecorder(path: string, options: Omit<TrafficRecorderOptions, 'onLine'> = {}): FileRecorder {
  const file = createWriteStream(path, { flags: 'w', mode: 0o600 });
  const written = finished(file);
  written.catch(() => undefined);
  const recorder = new TrafficRecorder({
    ...options,
    onLine: (line) => {
      if (file.writable) file.write(`${line}\n`);
    },
  });
  return {
    recorder,
    close: () => {
      file.end();
      return written;
    },
  };
}
