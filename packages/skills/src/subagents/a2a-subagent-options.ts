import type { Agent, DelegateLimits, DelegateOptions, Scalar } from '@parley/agent';
import type { JsonObject } from '@parley/harness';
import type { Logger } from '@parley/service-kit';

/** What a child is found by and agreed with. */
export interface A2aErrand {
  /** A capability of the registry, also with a version range: `code_review@^1`. */
  readonly capability: string;
  /** What is negotiated. Default: none. */
  readonly parameters?: Readonly<Record<string, Scalar>>;
  /**
   * What agents of this capability hand in as data, as a JSON Schema. Without it no request for the errand may ask for
   * an output of its own schema: nothing makes an agent elsewhere keep to it.
   */
  readonly outputSchema?: JsonObject;
}

/** Which agents are asked. */
export interface A2aCandidates {
  /** Asked first, in this order, when they are among those that the registry finds. */
  readonly prefer?: readonly string[];
  /** Never asked. */
  readonly exclude?: readonly string[];
  /** Only agents with these labels. */
  readonly labels?: Readonly<Record<string, string>>;
}

export interface A2aSubagentOptions {
  /** In whose name it is negotiated. */
  readonly agent: Pick<Agent, 'negotiateFirst'>;
  readonly registryUrl: string;
  /** What requests are about whose label is not in `errands`. */
  readonly errand: A2aErrand;
  /** By label of the request. */
  readonly errands?: Readonly<Record<string, A2aErrand>>;
  readonly candidates?: A2aCandidates;
  /** Deadlines, how many partners, how deep. Default: those of delegation. */
  readonly limits?: Partial<DelegateLimits>;
  /** How long the end of a child waits until its agent was told that the agreement is over. Default 3,000. */
  readonly releaseMs?: number;
  /** How an agent is spoken with. Default: `connectA2a` at its endpoint. */
  readonly connect?: NonNullable<DelegateOptions['connect']>;
  readonly logger?: Logger;
  /** Default: random UUIDs. */
  readonly newId?: () => string;
}
