/** Names of everything in Redis. One hash tag per namespace: on a cluster all of it lies in one slot. */
export interface Keys {
  /** + agent id: HASH of one registration. The truth; everything else about agents is derived from these. */
  readonly agentPrefix: string;
  /** ZSET agent id by deadline, also of orphans. */
  readonly deadlines: string;
  /** STREAM, ids `<revision>-0`. */
  readonly changes: string;
  /** STREAM of batches of renewals. */
  readonly renewals: string;
  /** The last revision. */
  readonly revision: string;
  /** A random name for this life of the data. */
  readonly epoch: string;
  /** HASH: when deadlines were last swept, and the last outage. */
  readonly state: string;
  /** + agreement id: HASH of one witnessed agreement. */
  readonly agreementPrefix: string;
  /** ZSET agreement id by 0: pages in the order of ids. */
  readonly agreements: string;
  /** ZSET agreement id by the time it is forgotten. */
  readonly agreementEnds: string;
}

export function keysOf(namespace: string): Keys {
  const tag = `{${namespace}}`;
  return {
    agentPrefix: `${tag}:agent:`,
    deadlines: `${tag}:deadlines`,
    changes: `${tag}:changes`,
    renewals: `${tag}:renewals`,
    revision: `${tag}:revision`,
    epoch: `${tag}:epoch`,
    state: `${tag}:state`,
    agreementPrefix: `${tag}:agreement:`,
    agreements: `${tag}:agreements`,
    agreementEnds: `${tag}:agreement_ends`,
  };
}

/** The keys that scripts declare, in the order of `KEYS`. Those of single records follow from the prefixes. */
export function scriptKeys(keys: Keys): string[] {
  return [
    keys.deadlines,
    keys.changes,
    keys.revision,
    keys.epoch,
    keys.state,
    keys.agreements,
    keys.agreementEnds,
    keys.renewals,
  ];
}
