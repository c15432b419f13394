import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as AgentPackage from '@parley/agent';
import type { Agent, AgreementHandle, NegotiationAttempt } from '@parley/agent';
import { messageOf } from '@parley/harness';
import { systemCodeOf } from '../../a2a/describe-failure.js';
import type { AgreedProxy, ProxyFinder } from './agreed-proxy.js';
import { explainAttempts } from './explain-attempts.js';
import { ProxySearchFailed } from './proxy-search-failed.js';

export interface FinderPlace {
  /** One, or several doors to one that are separated by commas. */
  readonly registryUrl: string;
  /** A name, or name@range. */
  readonly capability: string;
}

type AgentPorts = Pick<typeof AgentPackage, 'agreementCall' | 'NegotiationFailed'>;

/** A driver that is killed leaves its proxy taken for so long. */
const AGREEMENT_SECONDS = 30;
/** Asked for one discovery; who is left is asked after the next one. */
const PER_ROUND = 32;
const MAX_ROUNDS = 8;
/** How long a proxy is told at the end that it is free. */
const FAREWELL_MS = 2_000;
/** Nobody calls a driver: it is at no registry, and has no place. */
const NO_ENDPOINT = 'http://driver.invalid';

/** Finds proxies at a registry. What speaks with agents is large, so it is loaded here and not with the program. */
export async function openFinder(place: FinderPlace): Promise<ProxyFinder> {
  const ports = await import('@parley/agent');
  const agentId = `driver-${randomBytes(8).toString('hex')}`;
  const agent = new ports.Agent({ manifest: { agentId, endpoint: NO_ENDPOINT, capabilities: ['drive'] } });
  return new RegistryFinder(place, agent, ports);
}

interface Asked {
  readonly agreed: AgreedProxy | undefined;
  /** None if there is nobody to ask. */
  readonly inVain: readonly NegotiationAttempt[];
}

/** Asks those who offer the capability for an exclusive agreement, one after the other, until one accepts. */
export class RegistryFinder implements ProxyFinder {
  constructor(
    private readonly place: FinderPlace,
    private readonly agent: Pick<Agent, 'negotiateFirst' | 'stop'>,
    private readonly ports: AgentPorts,
  ) {}

  async find(exclude: readonly string[], signal: AbortSignal): Promise<AgreedProxy> {
    const asked: NegotiationAttempt[] = [];
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const { agreed, inVain } = await this.#ask([...exclude, ...asked.map(({ agent_id: id }) => id)], signal);
      if (agreed !== undefined) return agreed;
      if (inVain.length === 0) break;
      asked.push(...inVain);
    }
    throw explainAttempts(asked, this.place);
  }

  async close(): Promise<void> {
    await this.agent.stop();
  }

  async #ask(exclude: readonly string[], signal: AbortSignal): Promise<Asked> {
    const { registryUrl, capability } = this.place;
    const terms = { requiredParameters: ['exclusive'], agreementTtlSeconds: AGREEMENT_SECONDS };
    const options = { ...terms, maxCandidates: PER_ROUND, exclude, signal };
    try {
      const { agreement } = await this.agent.negotiateFirst(registryUrl, [capability], { exclusive: true }, options);
      return { agreed: agreedProxy(agreement, this.ports), inVain: [] };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof this.ports.NegotiationFailed) return { agreed: undefined, inVain: error.attempts };
      throw registryFailure(error, registryUrl);
    }
  }
}

function agreedProxy(agreement: AgreementHandle, { agreementCall }: AgentPorts): AgreedProxy {
  const { agentId, agreementId, endpoint } = agreement;
  return {
    agentId,
    agreementId,
    // The secret is for nobody but who agreed, so no other address of the agent is looked up.
    url: endpoint,
    claimHeaders: { ...agreementCall(agreement).headers, 'parley-agreement-id': agreementId },
    onEnd: (listener) => agreement.onEnd(listener),
    end: async (reason) => {
      const farewell = new AbortController();
      const over = sleep(FAREWELL_MS, undefined, { signal: farewell.signal }).catch(() => undefined);
      await Promise.race([agreement.end(reason).catch(() => undefined), over]);
      farewell.abort();
    },
  };
}

function registryFailure(error: unknown, registryUrl: string): unknown {
  // By name: the class belongs to a package that is none of ours.
  const { name, code, reason } = (error ?? {}) as Readonly<Record<'name' | 'code' | 'reason', unknown>>;
  if (name !== 'AppError') return error;
  const isAway = reason === 'unavailable' || reason === 'deadline_exceeded' || code === 'peer_invalid_answer';
  const why = systemCodeOf(error) ?? messageOf(error);
  return isAway
    ? new ProxySearchFailed('no_registry', `no registry at ${registryUrl} (${why})`, { cause: error })
    : new ProxySearchFailed('registry_refused', `the registry at ${registryUrl} refuses: ${messageOf(error)}`, {
        cause: error,
      });
}
