import type { FileLayer } from './file-layer.js';

/** Makes names in a folder durable. Callers that come while one sync runs share the next. */
export class FolderSync {
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(
    private readonly path: string,
    private readonly files: FileLayer,
  ) {}

  /** Covers every name that was made, changed or removed before the call. */
  sync(): Promise<void> {
    if (this.#running === undefined) return this.#start();
    this.#next ??= this.#running.then(
      () => this.#start(),
      () => this.#start(),
    );
    return this.#next;
  }

  #start(): Promise<void> {
    this.#next = undefined;
    const running = this.#sync().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  async #sync(): Promise<void> {
    const folder = await this.files.open(this.path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }
}
