import { open, rename, unlink, type FileHandle } from 'node:fs/promises';

/** What the journal does to files; a test puts a disk in between that fills up or fails. */
export interface FileLayer {
  open(path: string, flags: number | string, mode?: number): Promise<FileHandle>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
}

export const realFiles: FileLayer = { open, rename, unlink };

/** Writes all of it: a full disk takes a part first and refuses after that. */
export async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
    if (bytesWritten === 0) throw new Error('the disk takes no more');
    written += bytesWritten;
  }
}
