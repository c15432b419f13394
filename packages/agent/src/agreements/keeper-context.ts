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
  const randomBytes = options.randomBytes ?? nodeRandomBytes;
  return {
    agentId: options.agentId,
    offered: options.capabilities,
    store,
    settings: { ...DEFAULT_KEEPER_SETTINGS, ...options.settings },
    policy: options.policy,
    renewalPolicy: options.renewalPolicy,
    metrics: options.metrics ?? {},
    logger: options.logger ?? silentLogger,
    now,
    newId: (prefix) => `${prefix}-${Buffer.from(randomBytes(18)).toString('base64url')}`,
    newProof: () => newProof(randomBytes),
  };
}
