import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Lab } from '../../test-support/lab.js';
import { say } from '../model/scripted-model.js';

describe('skills in a run', () => {
  let skillsDir = '';

  beforeAll(async () => {
    skillsDir = await mkdtemp(join(tmpdir(), 'run-skills-'));
    for (const name of ['brew', 'clean']) {
      await mkdir(join(skillsDir, name));
      const text = `---\nname: ${name}\ndescription: how to ${name}\n---\nFULL TEXT OF ${name}\n`;
      await writeFile(join(skillsDir, name, 'SKILL.md'), text);
    }
  });
  afterAll(() => rm(skillsDir, { recursive: true }));

  const prompt = (lab: Lab, request: number): string =>
    lab.model.requests[request]?.messages
      .filter(({ role }) => role === 'system')
      .map(({ content }) => content)
      .join('\n') ?? '';

  it('are listed in every request and given in full where the task names one', async () => {
    const lab = new Lab([say('x'), say('y')], { skillsDir });
    await lab.run('please $brew tea');
    await lab.run('thanks');
    expect(prompt(lab, 0)).toContain('how to clean');
    expect(prompt(lab, 0)).toContain('FULL TEXT OF brew');
    expect(prompt(lab, 1)).not.toContain('FULL TEXT');
  });

  it('can be asked for by name', async () => {
    const lab = new Lab([say('x')], { skillsDir });
    await lab.run('tea', { skill: 'clean' });
    expect(prompt(lab, 0)).toContain('FULL TEXT OF clean');
    expect(await lab.run('tea', { skill: 'fly' })).toMatchObject({ stopReason: 'runtime_error', phase: 'skill' });
  });

  it('are changed by steering that names one, and kept by steering that names none', async () => {
    const lab = new Lab([say('x'), say('y'), say('z')], {
      skillsDir,
      onEvent: ({ payload }, { agent }) => {
        if (payload.kind === 'message_completed' && payload.turn < 3)
          agent.steer(['be quick', 'use $clean'][payload.turn - 1] ?? '');
      },
    });
    await lab.run('$brew');
    expect(prompt(lab, 1)).toContain('FULL TEXT OF brew');
    expect(prompt(lab, 2)).toContain('FULL TEXT OF clean');
  });

  it('whose folder is missing make a failed start', async () => {
    const lab = new Lab([say('x')], { skillsDir: join(skillsDir, 'nowhere') });
    expect(await lab.run()).toMatchObject({ stopReason: 'runtime_error', phase: 'start' });
  });
});
