import { PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import { AcpVersionError } from './acp-errors.js';
import { shortName } from './cut-text.js';

/** What a child says of itself in its answer to `initialize`, as far as it matters here. */
export interface AgentFacts {
  readonly name: string | undefined;
  /** What one can log in with, as the child calls it. */
  readonly authMethods: readonly string[];
  /** Whether it knows `session/close`. */
  readonly closesSessions: boolean;
}

interface LooseAnswer {
  readonly protocolVersion?: unknown;
  readonly agentInfo?: { readonly name?: unknown } | null;
  readonly authMethods?: unknown;
  readonly agentCapabilities?: { readonly sessionCapabilities?: { readonly close?: unknown } | null } | null;
}

const MAX_NAME_CHARS = 128;
const MAX_METHODS = 16;

/**
 * Reads an answer that nobody has checked.
 *
 * @throws AcpVersionError
 */
export function agentFacts(answer: unknown): AgentFacts {
  const loose: LooseAnswer = typeof answer === 'object' && answer !== null ? answer : {};
  if (loose.protocolVersion !== PROTOCOL_VERSION) throw new AcpVersionError(PROTOCOL_VERSION, loose.protocolVersion);
  const close = loose.agentCapabilities?.sessionCapabilities?.close;
  return {
    name: shortName(loose.agentInfo?.name, MAX_NAME_CHARS),
    authMethods: Array.isArray(loose.authMethods) ? loose.authMethods.slice(0, MAX_METHODS).flatMap(methodName) : [],
    closesSessions: typeof close === 'object' && close !== null,
  };
}

function methodName(method: unknown): readonly string[] {
  if (typeof method !== 'object' || method === null) return [];
  const { id, name } = method as { id?: unknown; name?: unknown };
  const shownId = shortName(id, MAX_NAME_CHARS);
  if (shownId === undefined) return [];
  const shownName = shortName(name, MAX_NAME_CHARS);
  return [shownName === undefined || shownName === shownId ? shownId : `${shownId} (${shownName})`];
}
