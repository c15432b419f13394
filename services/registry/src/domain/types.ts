/** Words of the registry's heart. Times are milliseconds since the epoch by the clock of the store. */

export interface Manifest {
  readonly agentId: string;
  readonly name: string;
  readonly endpoint: string;
  /** Distinct names, in the order given. */
  readonly capabilities: readonly string[];
  readonly capabilityDetails?: Readonly<Record<string, CapabilityDetail>>;
  readonly version?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly interfaces?: readonly AgentInterface[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface CapabilityDetail {
  /** A semantic version. */
  readonly version?: string;
  readonly description?: string;
  readonly parameters?: Readonly<Record<string, ParameterSchema>>;
}

/** A JSON Schema of a scalar; its keywords are the same on the wire and here. */
export interface ParameterSchema {
  readonly type: 'string' | 'number' | 'integer' | 'boolean';
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly default?: unknown;
  readonly required?: boolean;
  readonly description?: string;
}

export interface AgentInterface {
  readonly protocol: string;
  readonly version: string;
  readonly url: string;
}

/** A registration as the store keeps it and as it travels through snapshot and log. */
export interface AgentRecord {
  readonly agentId: string;
  /** The exact JSON object (snake_case, no `ttl_seconds`) that the edge answers for this agent. */
  readonly manifestJson: string;
  readonly ttlMs: number;
  readonly deadlineMs: number;
  /** Position of the registration in the change log; tells one registration of an id from the next. */
  readonly revision: number;
  readonly registeredAtMs: number;
}

export interface Renewal {
  readonly agentId: string;
  /** The registration that was renewed; a renewal of an earlier one must not touch its successor. */
  readonly revision: number;
  readonly deadlineMs: number;
}

export interface LeaseView {
  readonly ttlMs: number;
  readonly expiresAtMs: number;
  readonly renewEveryMs: number;
}

export type AgreementChangeType = 'agreed' | 'suspended' | 'resumed' | 'ended';

/** One line of the change log. Revisions grow by exactly one from line to line. */
export type Change =
  | {
      readonly type: 'registered' | 'updated';
      readonly revision: number;
      readonly atMs: number;
      readonly agentId: string;
      readonly record: AgentRecord;
    }
  | {
      readonly type: 'expired' | 'deregistered';
      readonly revision: number;
      readonly atMs: number;
      readonly agentId: string;
    }
  | {
      readonly type: AgreementChangeType;
      readonly revision: number;
      readonly atMs: number;
      readonly agreementId: string;
      readonly agreementJson: string;
    };
