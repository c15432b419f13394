import { Agent, request } from 'node:http';
import { onTestsEnd } from '@parley/testkit';

export interface LoadCounts {
  /** By status. */
  readonly answers: ReadonlyMap<number, number>;
  /** What became of requests without an answer. */
  readonly broken: readonly string[];
}

export interface LoadOptions {
  /** Requests at the same time, each on a connection that is kept open. */
  readonly workers: number;
  /** Says what to ask next. */
  readonly next: (count: number) => { method: string; url: string; headers?: Record<string, string>; body?: object };
}

export interface Load {
  /** Asks nothing new, and settles when everything asked has been answered, or has failed. */
  stop(): Promise<LoadCounts>;
}

/** A load that meets nobody any more ends by itself. */
const MAX_BROKEN = 100;

/** Asks as fast as answers come, until it is stopped; also stopped at the end of the test file. */
export function startLoad({ workers, next }: LoadOptions): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: workers });
  const answers = new Map<number, number>();
  const broken: string[] = [];
  let stopped = false;
  let count = 0;
  const ask = ({ method, url, headers, body }: ReturnType<LoadOptions['next']>) =>
    new Promise<void>((resolve) => {
      const fail = (error: Error) => {
        broken.push(`${method} ${url}: ${error.message}`);
        resolve();
      };
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      const asked = request(url, { method, agent, headers: { ...type, ...headers } }, (answer) => {
        answer.resume();
        answer.once('error', fail);
        answer.once('end', () => {
          const status = answer.statusCode ?? 0;
          answers.set(status, (answers.get(status) ?? 0) + 1);
          resolve();
        });
      });
      asked.once('error', fail);
      asked.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const work = async () => {
    while (!stopped && broken.length < MAX_BROKEN) await ask(next(count++));
  };
  const working = Promise.all(Array.from({ length: workers }, work));
  const stop = async () => {
    forget();
    stopped = true;
    await working;
    agent.destroy();
    return { answers, broken };
  };
  const forget = onTestsEnd(async () => {
    await stop();
  });
  return { stop };
}

/** As a load balancer does: looks every few milliseconds whether a service wants requests. */
export async function untilNotReady(url: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/readyz`);
    await response.body?.cancel();
    if (response.status === 503) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
