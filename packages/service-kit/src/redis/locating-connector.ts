import { connect as connectTcp, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, type RedisOptions } from 'ioredis';
import { formatAddress, type ServerAddress } from './redis-target.js';
import type { ServerLocator } from './server-locator.js';

export interface LocatingConnectorOptions {
  readonly locator: ServerLocator;
  readonly tls: boolean;
  readonly disconnectTimeoutMs: number;
}

export interface LocatingConnector {
  /** For the library's option of this name. */
  readonly Connector: NonNullable<RedisOptions['Connector']>;
  /** The server seems to be frozen: looks at once, and often for a while, whether another one has become the master. */
  readonly suspect: () => void;
}

/** How often to look while the server is suspected, and how long that lasts: longer than a fail-over usually takes. */
const SUSPECTED_EVERY_MS = 200;
const SUSPECTED_FOR_MS = 5_000;

/** Each attempt to connect asks anew where the master is. */
export function locatingConnector(options: LocatingConnectorOptions): LocatingConnector {
  const { locator, tls, disconnectTimeoutMs } = options;
  let current: { readonly stream: Socket; readonly address: ServerAddress } | undefined;
  let askedAt = -Infinity;
  let suspectedAt = -Infinity;

  /** Ends the connection if another server has become the master. */
  const recheck = (apartMs = SUSPECTED_EVERY_MS): void => {
    const now = performance.now();
    if (now - askedAt < apartMs) return;
    askedAt = now;
    const asked = current;
    locator.locate().then(
      (master) => {
        if (asked !== undefined && formatAddress(master) !== formatAddress(asked.address)) asked.stream.destroy();
      },
      // Nobody knows anything newer.
      () => undefined,
    );
  };

  class Connector extends AbstractConnector {
    constructor() {
      super(disconnectTimeoutMs);
    }

    /** What `INFO` says of the server; who may not read it says nothing. */
    override check(info: { readonly role?: string }): boolean {
      if (info.role !== undefined && info.role !== 'master') return false;
      // It may have been frozen since it was looked for, and somebody else be the master.
      recheck();
      return true;
    }

    override async connect(): Promise<Socket> {
      this.connecting = true;
      let address: ServerAddress;
      try {
        address = await locator.locate();
        // Read anew: while it was looked for, `disconnect` may have been called.
        if (!this.#isWanted()) throw new Error('Connection is closed.');
      } catch (error) {
        return this.#broken(error);
      }
      const { host, port } = address;
      const stream: Socket = tls ? connectTls({ host, port }) : connectTcp({ host, port });
      this.stream = stream;
      stream.once('error', (error) => {
        this.firstError = error;
      });
      current = { stream, address };
      this.#recheckWhileOpen(stream);
      return stream;
    }

    #isWanted(): boolean {
      return this.connecting;
    }

    /** The library gives up for ever when there is no stream; one that broke makes it try again. */
    #broken(error: unknown): Socket {
      this.firstError = error instanceof Error ? error : new Error('the master was not found', { cause: error });
      return new Socket().destroy();
    }

    #recheckWhileOpen(stream: Socket): void {
      const timer = setInterval(() => {
        const isSuspected = performance.now() - suspectedAt < SUSPECTED_FOR_MS;
        recheck(isSuspected ? SUSPECTED_EVERY_MS : locator.recheckMs);
      }, SUSPECTED_EVERY_MS);
      timer.unref();
      stream.once('close', () => {
        clearInterval(timer);
        if (current?.stream === stream) current = undefined;
      });
    }
  }

  const suspect = (): void => {
    suspectedAt = performance.now();
    recheck();
  };
  return { Connector, suspect };
}
