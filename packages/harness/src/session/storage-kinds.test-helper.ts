import { join } from 'node:path';
import { JsonlSessionStorage } from './jsonl-session-storage.js';
import { MemorySessionStorage } from './memory-session-storage.js';
import type { SessionStorage } from './session-storage.js';
import type { TemporaryFolder } from './sessions.test-helper.js';

interface StorageKind {
  readonly kind: string;
  readonly make: (folder: TemporaryFolder) => SessionStorage;
}

/** Every storage that there is: what is promised of one is asked of all. */
export const storageKinds: readonly StorageKind[] = [
  { kind: 'memory', make: () => new MemorySessionStorage() },
  {
    kind: 'jsonl',
    // A folder that is not there yet.
    make: (folder) => new JsonlSessionStorage(join(folder.path, 'new', 'folder'), { fsync: false }),
  },
];
