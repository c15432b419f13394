import type { JsonObject, SkillRef } from '../domain/facts.js';
import type { ProxyEngine } from '../engine/index.js';
import { EXTENSIONS } from './card-extensions.js';

const NAME = 'agentenv-proxy';
const DESCRIPTION = 'An agent played from outside AgentEnv: a driver answers its turns.';

/** The agent's card of A2A 0.3, as its configuration has it now. Its address is a path: who deploys it knows its host. */
export function agentCard({ agentConfig, skills }: Pick<ProxyEngine, 'agentConfig' | 'skills'>): JsonObject {
  return {
    capabilities: {
      extensions: EXTENSIONS,
      pushNotifications: false,
      stateTransitionHistory: false,
      streaming: false,
    },
    defaultInputModes: ['text'],
    defaultOutputModes: ['text'],
    description: agentConfig['description'] ?? DESCRIPTION,
    name: agentConfig['name'] ?? NAME,
    preferredTransport: 'JSONRPC',
    protocolVersion: '0.3.0',
    skills: skills.map(cardSkill),
    url: '/a2a',
    version: '1.0.0',
  };
}

function cardSkill({ name, description }: SkillRef): JsonObject {
  return { description, id: `skill-${name}`, name, tags: ['skill'] };
}
