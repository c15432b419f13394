import type { A2aConnection } from '@parley/agent';
import { endEverything, eventually, isAlive, waitFor } from '@parley/testkit';
import { discover, get } from './support/http.js';
import { connect, follow, reviewJob } from './support/review-job.js';
import { START_MS, startAgentA, startAgentB, startRegistry, type Service } from './support/services.js';
import { openStage, type Stage } from './support/stage.js';

const { jest } = import.meta;
jest.setTimeout(60_000);

describe('a job that agent_A does with agent_B', () => {
  let agentA: Service;
  let agentB: Service;
  let client: A2aConnection;

  beforeAll(async () => {
    const registry = await startRegistry();
    const registryUrl = registry.url;
    [agentA, agentB] = await Promise.all([startAgentA({ registryUrl }), startAgentB({ registryUrl })]);
    client = await connect(agentA.url);
  }, 3 * START_MS);
  afterAll(endEverything, 30_000);

  it('is told from submitted to completed, with three artifacts', async () => {
    const seen = await follow(client, reviewJob()).over;

    expect(seen).toMatchObject({ error: undefined, states: ['submitted', 'working', 'completed'] });
    expect(seen.artifacts.map(({ name }) => name)).toEqual(['code_review', 'summarize', 'translate']);
    const [report, , translation] = seen.artifacts;
    expect(report?.description).toBe('Made by agent_B.');
    expect(report?.parts).toMatchObject([
      { kind: 'text', mediaType: 'text/markdown', text: expect.stringContaining('debugger') as string },
      { kind: 'data', data: { verdict: 'request_changes' } },
    ]);
    expect(translation?.parts).toMatchObject([
      { kind: 'text', mediaType: 'text/markdown', text: expect.stringMatching(/[А-я]{3}/u) as string },
      { kind: 'data' },
    ]);
    // What is kept says the same as what was told.
    const kept = await client.getTask(seen.taskId ?? '');
    expect(kept).toMatchObject({ state: 'completed', artifacts: seen.artifacts.map(({ name }) => ({ name })) });
  });

  it('is one task at agent_B, and leaves no agreement open', async () => {
    const partner = await connect(agentB.url);
    const before = (await partner.listTasks()).totalSize;
    expect((await follow(client, reviewJob()).over).states.at(-1)).toBe('completed');

    const { tasks, totalSize } = await partner.listTasks({ pageSize: 1 });
    expect(totalSize).toBe(before + 1);
    expect(tasks).toMatchObject([{ state: 'completed' }]);
    await eventually(async () => {
      expect(await agreementStates(agentB)).toEqual(['ended', 'ended']);
    });
  });
});

describe('a partner of agent_A that fails', () => {
  let stage: Stage;
  let registry: Service;
  let agentA: Service;
  let client: A2aConnection;

  beforeEach(async () => {
    [stage, registry] = await Promise.all([openStage(), startRegistry()]);
    agentA = await startAgentA({ registryUrl: registry.url });
    client = await connect(agentA.url);
  }, 2 * START_MS);
  afterEach(endEverything, 30_000);

  const startPartner = (id: string) => stage.startAgent({ registryUrl: registry.url, env: { AGENT_ID: id } });
  const begun = () => stage.arrivals.filter(({ moment }) => moment === 'begun').map(({ agent }) => agent);

  it('before it had the work is replaced by the next candidate', async () => {
    const partners = await Promise.all(['agent_S1', 'agent_S2'].map(startPartner));
    // Whoever is asked first must be the dead one at least once.
    partners[0]?.kill('SIGKILL');
    await partners[0]?.exited;
    expect(await discover(registry.url, 'code_review')).toEqual(['agent_S1', 'agent_S2']);
    for (let round = 0; round < 4; round += 1) {
      const seen = await follow(client, reviewJob()).over;
      expect(seen).toMatchObject({ error: undefined, states: ['submitted', 'working', 'completed'] });
      expect(seen.artifacts[0]?.description).toBe('Made by agent_S2.');
      expect(begun()).toHaveLength(round + 1);
    }
  });

  it('and hangs before it had the work is replaced, and finds nothing to do when it wakes', async () => {
    const partners = await Promise.all(['agent_S1', 'agent_S2'].map(startPartner));
    partners[0]?.kill('SIGSTOP');
    const seen = await Promise.all(Array.from({ length: 4 }, () => follow(client, reviewJob()).over));
    for (const { error, states } of seen) expect([error, states.at(-1)]).toEqual([undefined, 'completed']);
    expect(begun()).toEqual(['agent_S2', 'agent_S2', 'agent_S2', 'agent_S2']);

    partners[0]?.kill('SIGCONT');
    const woken = await connect(partners[0]?.url ?? '');
    expect((await woken.listTasks()).totalSize).toBe(0);
    expect(begun()).toHaveLength(4);
  });

  it('after it had begun is not replaced: the task fails and says that nobody knows what was done', async () => {
    const partners = await Promise.all(['agent_S1', 'agent_S2'].map(startPartner));
    const { over } = follow(client, reviewJob('hold:submitted/x'));
    const { agent } = await stage.reached('submitted', 'x');
    partners[agent === 'agent_S1' ? 0 : 1]?.kill('SIGKILL');

    const seen = await over;
    expect(seen).toMatchObject({ error: undefined, artifacts: [], states: ['submitted', 'working', 'failed'] });
    expect(seen.words.at(-1)).toContain(agent);
    expect(seen.words.at(-1)).toContain('not known');
    expect(begun()).toEqual([agent]);
    // The other one does the next job.
    expect((await follow(client, reviewJob()).over).states.at(-1)).toBe('completed');
    expect(isAlive(agentA.pid)).toBe(true);
  });

  it('is told of a cancel: both tasks are canceled and the agreement has ended', async () => {
    const partner = await startPartner('agent_S1');
    const { over, seen } = follow(client, reviewJob('hold:working/x'));
    const { task } = await stage.reached('working', 'x');
    const taskId = await waitFor(() => seen.taskId);
    expect(await agreementStates(partner)).toEqual(['active']);

    expect((await client.cancelTask(taskId)).state).toBe('canceled');
    expect((await over).states.at(-1)).toBe('canceled');
    const atPartner = await connect(partner.url);
    await eventually(async () => {
      expect((await atPartner.getTask(task)).state).toBe('canceled');
      expect(await agreementStates(partner)).toEqual(['ended']);
    });
    await expect(client.cancelTask(taskId)).rejects.toMatchObject({ code: 'task_not_cancelable' });
    expect(seen.artifacts).toEqual([]);
  });
});

async function agreementStates({ url }: Service): Promise<string[]> {
  const { body } = await get(`${url}/agreements`);
  return (body.agreements as { state: string }[]).map(({ state }) => state);
}
