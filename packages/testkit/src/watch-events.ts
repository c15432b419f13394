import { onTestsEnd } from './children.js';

/** One server-sent event as it arrived. */
export interface WatchedEvent {
  readonly type: string;
  /** The event's `id:`; undefined for one from which a reader cannot resume. */
  readonly id: string | undefined;
  readonly revision: number;
  /** Undefined for events that are about no single agent. */
  readonly agentId: string | undefined;
  /** All of its JSON. */
  readonly data: Readonly<Record<string, unknown>>;
  /** When it was read, ms since the epoch. */
  readonly receivedAtMs: number;
}

export interface WatchEventsOptions {
  /** Resumes after this event instead of beginning with a snapshot. */
  readonly lastEventId?: string;
}

export interface WatchedEvents {
  /** Everything so far, the snapshot included, oldest first. */
  readonly all: readonly WatchedEvent[];
  /** Without the snapshot: what changed. */
  readonly changes: readonly WatchedEvent[];
  /**
   * The first event that fits, also one that came before.
   * @throws Error with what did arrive, when the time is over or the stream ends without such an event.
   */
  waitFor(fits: (event: WatchedEvent) => boolean, timeoutMs?: number): Promise<WatchedEvent>;
  /** How the stream was over: ended by the server in order, broken, or stopped here. Never rejects. */
  readonly ended: Promise<'ended' | 'broken' | 'stopped'>;
  stop(): void;
}

/**
 * Opens `GET /watch` of a registry and keeps every event exactly as it came: no reconnecting, nothing sorted out.
 * The answer has begun when the promise settles. Also stopped at the end of the test file.
 * @throws Error when the registry does not answer 200.
 */
export async function watchEvents(registryUrl: string, options: WatchEventsOptions = {}): Promise<WatchedEvents> {
  const stopping = new AbortController();
  const response = await fetch(`${registryUrl}/watch`, {
    headers: options.lastEventId === undefined ? {} : { 'last-event-id': options.lastEventId },
    signal: stopping.signal,
  });
  if (!response.ok || response.body === null) {
    throw new Error(`${registryUrl}/watch answered ${String(response.status)}: ${await response.text()}`);
  }
  const all: WatchedEvent[] = [];
  const listeners = new Set<() => void>();
  let over: 'ended' | 'broken' | 'stopped' | undefined;
  const tell = () => {
    for (const listener of [...listeners]) listener();
  };
  const ended = read(response.body, (event) => {
    all.push(event);
    tell();
  }).then(
    () => 'ended' as const,
    () => (stopping.signal.aborted ? ('stopped' as const) : ('broken' as const)),
  );
  void ended.then((how) => {
    over = how;
    tell();
  });
  const stop = () => {
    forget();
    stopping.abort();
  };
  const forget = onTestsEnd(stop);

  return {
    all,
    get changes() {
      return all.filter(({ type }) => type !== 'snapshot');
    },
    ended,
    stop,
    waitFor: (fits, timeoutMs = 10_000) =>
      new Promise((resolve, reject) => {
        const finish = () => {
          clearTimeout(timer);
          listeners.delete(look);
        };
        const fail = (reason: string) => {
          finish();
          const seen = all
            .slice(-20)
            .map(({ type, agentId, revision }) => `${type} ${agentId ?? ''} ${String(revision)}`);
          reject(new Error(`no such event at ${registryUrl}: ${reason}; the last were\n${seen.join('\n')}`));
        };
        const look = () => {
          const found = all.find(fits);
          if (found !== undefined) {
            finish();
            resolve(found);
          } else if (over !== undefined) fail(`the stream is over (${over})`);
        };
        const timer = setTimeout(() => {
          fail(`waited ${String(timeoutMs)} ms`);
        }, timeoutMs);
        listeners.add(look);
        look();
      }),
  };
}

async function read(body: ReadableStream<Uint8Array>, onEvent: (event: WatchedEvent) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parse(block);
      if (event !== undefined) onEvent(event);
    }
  }
}

/** Undefined for a comment. */
function parse(block: string): WatchedEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const [, name, value] = /^(event|id|data): ?(.*)$/u.exec(line) ?? [];
    if (name !== undefined && value !== undefined) fields.set(name, (fields.get(name) ?? '') + value);
  }
  const type = fields.get('event');
  if (type === undefined) return undefined;
  const data = JSON.parse(fields.get('data') ?? '{}') as { revision?: number; agent_id?: string };
  return {
    type,
    id: fields.get('id'),
    revision: data.revision ?? 0,
    agentId: data.agent_id,
    data,
    receivedAtMs: Date.now(),
  };
}
