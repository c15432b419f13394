import { ProxyClient } from '../client/index.js';
import { FakeProxy } from './fake-proxy.test-helper.js';
import type { DriveEvent, DriveOptions, PlayedTurn } from './index.js';
import { drive } from './index.js';

export const TOKEN = 'a-token-of-twenty-two-characters';

/** A proxy that a driver plays, and what the driver told; new for each test. */
export class DriveStage {
  readonly proxy = new FakeProxy();
  readonly events: DriveEvent[] = [];
  readonly clients: ProxyClient[] = [];

  driving(play: (turn: PlayedTurn) => Promise<void>, options: Partial<DriveOptions> = {}): ReturnType<typeof drive> {
    const client = new ProxyClient({ url: this.proxy.url, token: TOKEN, retryMs: 5 });
    this.clients.push(client);
    return drive({
      client,
      play,
      random: () => 0,
      onEvent: (event) => {
        this.events.push(event);
      },
      ...options,
    });
  }

  ends(): unknown[] {
    return this.events.flatMap((event) => (event.kind === 'turn_ended' ? [event.outcome] : []));
  }

  async close(): Promise<void> {
    for (const client of this.clients) await client.close();
    await this.proxy.stop();
  }
}
