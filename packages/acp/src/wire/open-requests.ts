import type { AnyMessage } from '@agentclientprotocol/sdk';
import { isRequest } from './json-rpc.js';

/** The requests of this side that have no answer yet. */
export class OpenRequests {
  readonly #ids = new Set<unknown>();

  open(message: AnyMessage): void {
    if (isRequest(message)) this.#ids.add(message.id);
  }

  /** False if no such request is open. */
  close(id: unknown): boolean {
    return this.#ids.delete(id);
  }
}
