import { randomBytes as nodeRandomBytes } from 'node:crypto';
import { silentLogger, type Logger } from '@parley/service-kit';
import type { OfferedCapabilities } from '../negotiation/match-capabilities.js';
import type { NegotiationPolicy } from '../negotiation/policy.js';
import { newProof, type Proof } from '../negotiation/proof.js';
import type { AgreementStore } from './agreement-store.js';
import type { AgreementKeeperOptions, KeeperMetrics, RenewalPolicy } from './keeper-types.js';
import { DEFAULT_KEEPER_SETTINGS, type KeeperSettings } from './settings.js';

/** What the parts of one keeper share. */
export interface KeeperContext {
  readonly agentId: string;
  readonly offered: () => OfferedCapabilities;
  readonly store: AgreementStore;
  readonly settings: KeeperSettings;
  readonly policy: NegotiationPolicy | undefined;
  readonly renewalPolicy: RenewalPolicy | undefined;
  readonly metrics: KeeperMetrics;
  readonly logger: Logger;
  readonly now: () => number;
  /** `prefix-` and 144 random bits. */
  readonly newId: (prefix: string) => string;
  readonly newProof: () => Proof;
}

export function keeperContext(
  options: AgreementKeeperOptions,
  store: AgreementStore,
  now: () => number,
): KeeperContext {
  const randomBytes = options.randomBytes ?? pooledRandomBytes();
  const settings = { ...DEFAULT_KEEPER_SETTINGS, ...options.settings };
  return {
    agentId: options.agentId,
    offered: options.capabilities,
    store,
    // The sessions of all agreements that may live have to find room.
    settings: { ...settings, maxRemembered: Math.max(settings.maxRemembered, 2 * settings.maxAgreements) },
    policy: options.policy,
    renewalPolicy: options.renewalPolicy,
    metrics: options.metrics ?? {},
    logger: options.logger ?? silentLogger,
    now,
    newId: (prefix) => `${prefix}-${Buffer.from(randomBytes(18)).toString('base64url')}`,
    newProof: () => newProof(randomBytes),
  };
}

const POOL_BYTES = 4_096;

/** Draws many at a time: one draw costs more than all the rest of an answer's random values. */
function pooledRandomBytes(): (count: number) => Uint8Array {
  let pool = new Uint8Array(0);
  let used = 0;
  return (count) => {
    if (used + count > pool.length) {
      pool = new Uint8Array(nodeRandomBytes(Math.max(POOL_BYTES, count)));
      used = 0;
    }
    const part = pool.subarray(used, used + count);
    used += count;
    const drawn = Uint8Array.from(part);
    // A secret stands in one place only.
    part.fill(0);
    return drawn;
  };
}
