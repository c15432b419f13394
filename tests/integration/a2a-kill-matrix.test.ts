import { request } from 'node:http';
import type { A2aConnection, A2aTask } from '@parley/agent';
import { endEverything, eventually, startRedis, waitFor, type RedisServer } from '@parley/testkit';
import { connect, follow, OWN_JOB, reviewJob, type Following, type Seen } from './support/review-job.js';
import { freePorts, START_MS, startAgentA, startRegistry, untilReady, type Service } from './support/services.js';
import { openStage, type Moment, type Stage } from './support/stage.js';

const { jest } = import.meta;
jest.setTimeout(60_000);

/** Nobody who waits for a task is left without a word for longer. */
const BOUND_MS = 15_000;
/** A process that died is taken for dead after 15 s; then its tasks are ended, whoever sees it. */
const DEAD_AFTER_MS = 25_000;
const MOMENTS = ['submitted', 'working', 'artifact', 'ending'] as const satisfies Moment[];

/** What a client saw of a job that was held at a moment when somebody died. */
interface Row {
  readonly moment: 'none yet' | Moment;
  readonly saw: string;
  readonly artifacts: number;
  readonly inTime: boolean;
}

interface Held {
  readonly moment: Moment;
  readonly following: Following;
  readonly client: A2aConnection;
  /** The task's id at agent_A. */
  readonly taskId: string;
  /** The task's id at the partner. */
  readonly partnerTask: string;
}

const rowOf = (moment: Row['moment'], { states, error, artifacts, ms }: Seen, from = 0): Row => ({
  moment,
  saw: [states.at(-1), error].filter((word) => word !== undefined).join(', '),
  artifacts: artifacts.length,
  inTime: ms - from <= BOUND_MS,
});

describe('a job of agent_A and its partner, all with Redis, when somebody dies', () => {
  let stage: Stage;
  let redis: RedisServer;
  let registry: Service;
  let agentA: Service;
  let agentB: Service;
  let client: A2aConnection;
  let start: { registry(): Promise<Service>; agentA(): Promise<Service>; agentB(): Promise<Service> };

  beforeAll(async () => {
    [stage, redis] = await Promise.all([openStage(), startRedis({ appendonly: true })]);
    const [registryPort = 0, portA = 0, portB = 0] = await freePorts(3);
    const registryUrl = `http://127.0.0.1:${String(registryPort)}`;
    const optionsOf = (httpPort: number, name: string) => ({
      registryUrl,
      httpPort,
      ttlSeconds: 5,
      env: { AGENT_ID: name, AGENT_OWNER_TOKEN: `the-configured-owner-token-of-${name}`, REDIS_URL: redis.url },
    });
    start = {
      registry: () => startRegistry({ httpPort: registryPort }),
      agentA: () => startAgentA(optionsOf(portA, 'agent_A')),
      agentB: () => stage.startAgent(optionsOf(portB, 'agent_S')),
    };
    registry = await start.registry();
    [agentA, agentB] = await Promise.all([start.agentA(), start.agentB()]);
    client = await connect(agentA.url);
  }, 3 * START_MS);
  afterAll(endEverything, 30_000);

  const holdAll = (victim: string): Promise<Held[]> =>
    Promise.all(
      MOMENTS.map(async (moment) => {
        const own = await connect(agentA.url);
        const following = follow(own, reviewJob(`hold:${moment}/${victim}-${moment}`));
        const { task } = await stage.reached(moment, `${victim}-${moment}`);
        const taskId = await waitFor(() => following.seen.taskId);
        return { moment, following, client: own, taskId, partnerTask: task };
      }),
    );

  /** One more job, and how long from the death until its client knew. */
  const rowsOf = async (held: readonly Held[], before: Row, diedAt: number): Promise<Row[]> => {
    const rows = held.map(async ({ moment, following }) => {
      const seen = await following.over;
      return rowOf(moment, { ...seen, ms: performance.now() - diedAt });
    });
    return [before, ...(await Promise.all(rows))];
  };

  const newJob = async (): Promise<Row> => rowOf('none yet', await follow(client, reviewJob()).over);

  const completes = async (connection: A2aConnection, parts = reviewJob()): Promise<void> => {
    await eventually(
      async () => {
        const { error, states } = await follow(connection, parts).over;
        expect([error, states.at(-1)]).toEqual([undefined, 'completed']);
      },
      { timeoutMs: BOUND_MS, intervalMs: 250, what: 'another job to be done' },
    );
  };

  const recordsOf = (connection: A2aConnection, taskIds: readonly string[]): Promise<A2aTask[]> =>
    Promise.all(taskIds.map((taskId) => connection.getTask(taskId)));

  /** What was never ended in the store is told as failed, with a reason, in the end. */
  const recordsFail = (connection: A2aConnection, taskIds: readonly string[]): Promise<void> =>
    eventually(
      async () => {
        const records = await recordsOf(connection, taskIds);
        expect(records.map(({ state, message }) => [state, message?.parts.length])).toEqual(
          taskIds.map(() => ['failed', 1]),
        );
      },
      { timeoutMs: DEAD_AFTER_MS, intervalMs: 250, what: 'the tasks of the dead to be failed' },
    );

  it('the client: its tasks go on and can be taken up again', async () => {
    const held = await holdAll('client');
    const begun = stage.arrivals.length;
    await breakOffHalfWay(client.card.supportedInterfaces[0]?.url ?? '');
    await Promise.all(held.map(({ client: own }) => own.close()));
    const lost = await Promise.all(held.map(({ following }) => following.over));
    expect(lost.map(({ error, ms }) => [typeof error, ms <= BOUND_MS])).toEqual(MOMENTS.map(() => ['string', true]));

    const again = held.map(({ taskId }) => lastState(client, taskId));
    stage.releaseAll();
    expect(await Promise.all(again)).toEqual(MOMENTS.map(() => 'completed'));
    const records = await recordsOf(
      client,
      held.map(({ taskId }) => taskId),
    );
    expect(records.map(({ artifacts }) => artifacts.length)).toEqual([3, 3, 3, 3]);
    expect(stage.arrivals).toHaveLength(begun);
    await completes(client);
  });

  it('the registry: what was agreed on is done, and a new job fails with a reason', async () => {
    const held = await holdAll('registry');
    registry.kill('SIGKILL');
    await registry.exited;
    const diedAt = performance.now();
    const before = await newJob();
    stage.releaseAll();
    expect(await rowsOf(held, before, diedAt)).toEqual([
      { moment: 'none yet', saw: 'failed', artifacts: 0, inTime: true },
      ...MOMENTS.map((moment) => ({ moment, saw: 'completed', artifacts: 3, inTime: true })),
    ]);
    await completes(client, OWN_JOB);

    registry = await start.registry();
    await Promise.all([agentA, agentB].map((agent) => untilReady(agent)));
    await completes(client);
  });

  it('Redis: whoever waits is told, and all goes on when it is back', async () => {
    const held = await holdAll('redis');
    await redis.kill();
    const diedAt = performance.now();
    const before = await newJob();
    stage.releaseAll();
    expect(await rowsOf(held, before, diedAt)).toEqual([
      { moment: 'none yet', saw: 'store_unavailable', artifacts: 0, inTime: true },
      ...MOMENTS.map((moment) => ({ moment, saw: 'failed', artifacts: 0, inTime: true })),
    ]);

    await redis.restart({ keepData: true });
    await Promise.all([agentA, agentB].map((agent) => untilReady(agent)));
    await completes(client);
    await recordsFail(
      client,
      held.map(({ taskId }) => taskId),
    );
  });

  it('agent_A: its clients are told, its partner stays well, its tasks are kept as failed', async () => {
    const held = await holdAll('agent_a');
    agentA.kill('SIGKILL');
    await agentA.exited;
    const diedAt = performance.now();
    const before = await newJob();
    expect(await rowsOf(held, before, diedAt)).toEqual([
      { moment: 'none yet', saw: 'peer_unreachable', artifacts: 0, inTime: true },
      ...MOMENTS.map((moment) => ({ moment, saw: 'working, stream_broken', artifacts: 0, inTime: true })),
    ]);
    stage.releaseAll();
    const partner = await connect(agentB.url);
    await completes(partner);

    agentA = await start.agentA();
    client = await connect(agentA.url);
    await completes(client);
    await recordsFail(
      client,
      held.map(({ taskId }) => taskId),
    );
  });

  it('its partner: the job fails with a reason and is done by nobody else', async () => {
    const held = await holdAll('agent_b');
    agentB.kill('SIGKILL');
    await agentB.exited;
    const diedAt = performance.now();
    const before = await newJob();
    await completes(client, OWN_JOB);
    expect(await rowsOf(held, before, diedAt)).toEqual([
      ...(['none yet', ...MOMENTS] as const).map((moment) => ({ moment, saw: 'failed', artifacts: 0, inTime: true })),
    ]);

    agentB = await start.agentB();
    await completes(client);
    const partner = await connect(agentB.url);
    await recordsFail(
      partner,
      held.map(({ partnerTask }) => partnerTask),
    );
  });
});

/** Follows a task that exists, to its end. */
async function lastState(connection: A2aConnection, taskId: string): Promise<string | undefined> {
  let state: string | undefined;
  for await (const update of connection.subscribe(taskId)) {
    if (update.kind === 'task') ({ state } = update.task);
    if (update.kind === 'status') ({ state } = update);
  }
  return state;
}

/** A connection that breaks before its request was whole. */
function breakOffHalfWay(url: string): Promise<void> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': '1000', 'a2a-version': '1.0' };
    const call = request(url, { method: 'POST', headers });
    call.on('error', () => undefined);
    call.on('close', resolve);
    call.write('{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":', () => call.destroy());
  });
}
