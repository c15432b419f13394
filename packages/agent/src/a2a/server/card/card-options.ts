import type { AgentExtension } from '@a2a-js/sdk';

/** A capability as the card shows it. */
export interface CardSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples?: readonly string[];
  /** Media types, as in `text/plain`. */
  readonly inputModes: readonly string[];
  readonly outputModes: readonly string[];
}

/** What an agent says of itself to those who want to give it tasks. */
export interface A2aCardOptions {
  readonly agentId: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** Base URL under which others reach the agent, as configured: the Host of a request is whatever its sender likes. */
  readonly publicUrl: string;
  /** `host:port` of the gRPC server as others reach it; undefined: A2A is not served over gRPC. */
  readonly grpcTarget?: string;
  readonly skills: readonly CardSkill[];
  readonly extensions: readonly AgentExtension[];
  /** True if no model is behind the work: the card says so. Default false. */
  readonly offline?: boolean;
  readonly streaming: boolean;
  readonly pushNotifications: boolean;
  /** What callers get on top through the extended card; undefined: there is none. */
  readonly extendedCard?: { readonly description?: string; readonly skills?: readonly CardSkill[] };
  /** Also protocol 0.3. */
  readonly compat: boolean;
}
