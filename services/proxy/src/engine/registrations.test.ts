import { Refusal } from '../domain/facts.js';
import { asked, signal, stage, TOKEN } from './engine.test-helper.js';

const server = { name: 's', url: 'http://s', headers: { 'x-key': 'secret' } };
const skill = { name: 'k', description: 'd', path: '/k' };

describe('what is registered', () => {
  it('is seen by turns that open later, and by none that is open', async () => {
    const { engine, open } = await stage();
    const early = await open();
    await engine.addSkill(skill);
    const late = await open();
    const { turns } = await engine.next({ ...asked, after: 0 });
    expect(turns.map(({ taskId, skills }) => [taskId, skills])).toEqual([
      [early, []],
      [late, [skill]],
    ]);
  });

  it('gives a waiting message the prompt of its arrival, and the servers and skills of its opening', async () => {
    const { engine, observed, open, send } = await stage();
    await engine.configureAgent({ system_prompt: 'old' });
    const first = await open('c');
    const second = await send({ contextId: 'c' });
    await engine.configureAgent({ system_prompt: 'new' });
    await engine.addServer(server);
    await engine.addSkill(skill);
    await engine.reply({ token: TOKEN, taskId: first, texts: ['x'] });
    await engine.opened(second, signal);
    await engine.configureAgent({ system_prompt: null });
    const third = await open('d');
    const { turns } = await engine.next({ ...asked, after: 0 });
    expect(turns.map(({ taskId, systemPrompt, skills }) => [taskId, systemPrompt, skills.length])).toEqual([
      [second, 'old', 1],
      [third, null, 1],
    ]);
    const opened = observed.filter((fact) => fact.kind === 'turn_opened');
    expect(opened.map(({ servers }) => servers)).toEqual([[], [server], [server]]);
  });

  it('is refused when its name or address is taken, also by one that comes at the same moment', async () => {
    const { engine } = await stage();
    const outcomes = await Promise.allSettled([
      engine.addServer(server),
      engine.addServer({ ...server, name: 'other' }),
      engine.addServer({ ...server, url: 'http://other' }),
      engine.addSkill(skill),
      engine.addSkill(skill),
    ]);
    const reasons = outcomes.map((outcome) =>
      outcome.status === 'rejected' ? (outcome.reason as unknown) : undefined,
    );
    expect(reasons).toEqual([
      undefined,
      new Refusal(409, "MCP URL 'http://s' already registered as 's'"),
      new Refusal(409, "MCP name 's' is already registered"),
      undefined,
      new Refusal(409, "Skill 'k' is already registered"),
    ]);
    expect([await engine.removeServer('s'), await engine.removeServer('s'), engine.servers]).toEqual([true, false, []]);
    await engine.addServer(server);
  });

  it('merges what is set of the agent, and keeps a null that was said', async () => {
    const { engine, log } = await stage();
    await engine.configureAgent({ name: 'a', role: null });
    await engine.configureAgent({ name: 'b', timeout_seconds: 5 });
    const facts = log.kept.length;
    await expect(engine.configureAgent({ timeout_seconds: Number.NaN })).rejects.toMatchObject({ status: 400 });
    expect(engine.agentConfig).toEqual({ name: 'b', role: null, timeout_seconds: 5 });
    expect(log.kept).toHaveLength(facts);
  });
});
