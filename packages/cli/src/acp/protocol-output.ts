import { Writable } from 'node:stream';

/** The standard output, for the protocol alone. */
export interface ProtocolOutput {
  readonly stream: Writable;
  /** Writes the rest and gives it back. */
  readonly release: () => Promise<void>;
}

type Write = Writable['write'];

const LAST_WRITES_MS = 1_000;

/**
 * Takes the standard output: what anybody else writes to it from now on, `console.log` included, comes out on the
 * standard error.
 */
export function takeOutput(stdout: Writable, stderr: Pick<Writable, 'write'>): ProtocolOutput {
  const write = stdout.write.bind(stdout);
  const strayWrite = ((...args: Parameters<Write>) => stderr.write(...args)) as Write;
  stdout.write = strayWrite;
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      write(chunk, done);
    },
  });
  // A reader that has left is told by the failure of the write, here or there.
  const onError = (error: Error): void => void stream.destroy(error);
  stdout.on('error', onError);
  stream.on('error', () => undefined);
  return {
    stream,
    release: async () => {
      await written(stream);
      if (stdout.write === strayWrite) stdout.write = write;
      stdout.off('error', onError);
    },
  };
}

/** Resolves when everything is written, when that failed, or when nobody reads it for too long. */
async function written(stream: Writable): Promise<void> {
  if (stream.destroyed) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, LAST_WRITES_MS);
    const onEnd = (): void => {
      clearTimeout(timer);
      resolve();
    };
    stream.once('close', onEnd);
    stream.end(onEnd);
  });
}
