import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestsEnd, waitFor } from '@parley/testkit';
import { startScriptedAgent, type Service, type StartAgentOptions } from './services.js';

/** Where a scripted agent can be held: `begun` is told of every task and holds nobody. */
export type Moment = 'begun' | 'submitted' | 'working' | 'artifact' | 'ending';

export interface Arrival {
  readonly agent: string;
  readonly moment: Moment;
  /** Of the task's text: `hold:MOMENT/LABEL`. */
  readonly label: string;
  /** The task's id at the scripted agent. */
  readonly task: string;
}

/** Tells when scripted agents reach a moment, and lets them go on from it. */
export interface Stage {
  readonly arrivals: readonly Arrival[];
  /** A scripted agent that does code_review. */
  startAgent(options: StartAgentOptions): Promise<Service>;
  /** Waits until the task with this label is held there. */
  reached(moment: Moment, label: string): Promise<Arrival>;
  /** Lets everybody go on who is held now. */
  releaseAll(): void;
}

export async function openStage(): Promise<Stage> {
  const arrivals: Arrival[] = [];
  let held: ServerResponse[] = [];
  const server = createServer((request, response) => {
    const query = Object.fromEntries(new URL(request.url ?? '/', 'http://stage').searchParams);
    const arrival = query as unknown as Arrival;
    arrivals.push(arrival);
    if (arrival.moment === 'begun') response.end();
    else held.push(response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestsEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const stageUrl = `http://127.0.0.1:${String(port)}`;
  return {
    arrivals,
    startAgent: ({ env, ...options }) => startScriptedAgent({ ...options, env: { STAGE_URL: stageUrl, ...env } }),
    reached: (moment, label) =>
      waitFor(() => arrivals.find((arrival) => arrival.moment === moment && arrival.label === label), {
        timeoutMs: 15_000,
        what: `${label} to be held at ${moment}`,
      }),
    releaseAll: () => {
      for (const response of held) response.end();
      held = [];
    },
  };
}
