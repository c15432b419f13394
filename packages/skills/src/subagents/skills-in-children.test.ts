import { quietLogger } from '@parley/harness';
import { skillsByName } from '../index.js';
import { readWorkConfig } from '../work/work-env.js';
import { childEnvironment } from './child-environment.js';
import { skillsInChildren } from './skills-in-children.js';

const NAMES = ['translate', 'code_review'];

describe('skills in children', () => {
  const placed = (env: Record<string, string>) =>
    skillsInChildren(skillsByName(NAMES), {
      agentId: 'agent_T',
      config: readWorkConfig(env),
      logger: quietLogger,
      program: '/nowhere.mjs',
    });

  it('are none by default: every skill is done as it was', () => {
    expect(placed({})).toEqual(skillsByName(NAMES));
    expect(placed({ AGENT_SUBAGENT_PROVIDER: 'none' })).toEqual(skillsByName(NAMES));
  });

  it('are those that hold the event loop; they look the same from outside', async () => {
    const [translate, review] = placed({ AGENT_SUBAGENT_PROVIDER: 'acp' });
    const [before, code] = skillsByName(NAMES);
    expect(translate).toBe(before);
    expect(review).toMatchObject({ capability: 'code_review', detail: code?.detail, input: code?.input });
    expect(review?.run).not.toBe(code?.run);
    await review?.close?.();
  });

  it('are configured in words that are checked', () => {
    expect(() => readWorkConfig({ AGENT_SUBAGENT_PROVIDER: 'in-process', AGENT_SUBAGENT_POOL_SIZE: '-1' })).toThrow(
      /AGENT_SUBAGENT_PROVIDER[\s\S]*AGENT_SUBAGENT_POOL_SIZE/u,
    );
  });
});

it('names a child after its service, or after its agent where that has no name', () => {
  expect(childEnvironment('agent_B', { A: '1', OTEL_A: undefined, OTEL_SERVICE_NAME: 'b' })).toEqual({
    AGENT_ID: 'agent_B.review',
    OTEL_SERVICE_NAME: 'b-review',
  });
  expect(childEnvironment('agent_B', {})).toMatchObject({ OTEL_SERVICE_NAME: 'agent_B-review' });
});
