import type { AgentCard, AgentInterface, AgentSkill } from '@a2a-js/sdk';
import { duplicateInterfacesForLegacy } from '@a2a-js/sdk/compat/v0_3';
import type { A2aCardOptions, CardSkill } from './card-options.js';

/** Where the bindings are, below the agent's base URL. */
export const JSON_RPC_PATH = '/a2a';
export const REST_PATH = '/a2a/v1';

const BINDINGS = ['JSONRPC', 'HTTP+JSON', 'GRPC'];

/** The card that everybody may see. */
export function buildAgentCard(options: A2aCardOptions): AgentCard {
  const own = interfaces(options);
  const offline = options.offline === true ? ' Works offline: no model is behind it.' : '';
  return {
    name: options.name,
    description: `${options.description}${offline}`,
    version: options.version,
    supportedInterfaces: options.compat ? duplicateInterfacesForLegacy(own, BINDINGS) : own,
    provider: { organization: options.agentId, url: baseUrl(options) },
    capabilities: {
      streaming: options.streaming,
      pushNotifications: options.pushNotifications,
      extendedAgentCard: options.extendedCard !== undefined,
      extensions: [...options.extensions],
    },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: modes(options.skills, ({ inputModes }) => inputModes),
    defaultOutputModes: modes(options.skills, ({ outputModes }) => outputModes),
    skills: options.skills.map(skill),
    signatures: [],
  };
}

/** The extended card, undefined if none is configured. */
export function buildExtendedAgentCard(options: A2aCardOptions): AgentCard | undefined {
  const { extendedCard } = options;
  if (extendedCard === undefined) return undefined;
  return buildAgentCard({
    ...options,
    description: extendedCard.description ?? options.description,
    skills: [...options.skills, ...(extendedCard.skills ?? [])],
  });
}

function interfaces(options: A2aCardOptions): AgentInterface[] {
  const base = baseUrl(options);
  const at = (protocolBinding: string, url: string): AgentInterface => ({
    url,
    protocolBinding,
    protocolVersion: '1.0',
    tenant: '',
  });
  return [
    at('JSONRPC', `${base}${JSON_RPC_PATH}`),
    at('HTTP+JSON', `${base}${REST_PATH}`),
    ...(options.grpcTarget === undefined ? [] : [at('GRPC', options.grpcTarget)]),
  ];
}

function baseUrl({ publicUrl }: A2aCardOptions): string {
  return publicUrl.replace(/\/+$/, '');
}

function skill(from: CardSkill): AgentSkill {
  return {
    id: from.id,
    name: from.name,
    description: from.description,
    tags: [...from.tags],
    examples: [...(from.examples ?? [])],
    inputModes: [...from.inputModes],
    outputModes: [...from.outputModes],
    securityRequirements: [],
  };
}

/** What any skill takes or gives; text where the skills say nothing. */
function modes(skills: readonly CardSkill[], of: (one: CardSkill) => readonly string[]): string[] {
  const all = [...new Set(skills.flatMap(of))];
  return all.length === 0 ? ['text/plain'] : all;
}
