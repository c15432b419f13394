import type { Agent, AgreementHandle } from '@parley/agent';
import { within } from '@parley/service-kit';
import type { A2aCandidates } from './a2a-subagent-options.js';

/** Negotiates for one child, and knows the agreements that came of it until they are over for both sides. */
export class HeldAgreements implements Pick<Agent, 'negotiateFirst'> {
  readonly #agent: Pick<Agent, 'negotiateFirst'>;
  readonly #candidates: A2aCandidates;
  readonly #releaseMs: number;
  readonly #held: AgreementHandle[] = [];
  #isAgreed = false;

  constructor(agent: Pick<Agent, 'negotiateFirst'>, candidates: A2aCandidates, releaseMs: number) {
    this.#agent = agent;
    this.#candidates = candidates;
    this.#releaseMs = releaseMs;
  }

  /** True while there is somebody who has agreed and may have been called: the next one is looked for only if not. */
  get isAgreed(): boolean {
    return this.#isAgreed;
  }

  readonly negotiateFirst: Agent['negotiateFirst'] = async (registryUrl, capabilities, parameters, options) => {
    this.#isAgreed = false;
    const { prefer, exclude = [], labels } = this.#candidates;
    const accepted = await this.#agent.negotiateFirst(registryUrl, capabilities, parameters, {
      ...options,
      ...(prefer === undefined ? {} : { prefer }),
      ...(labels === undefined ? {} : { labels }),
      exclude: [...exclude, ...(options?.exclude ?? [])],
    });
    this.#held.push(accepted.agreement);
    this.#isAgreed = true;
    return accepted;
  };

  /** Ends what still lives, and waits until the others know of it: those that cannot be told hold up nobody. Never rejects. */
  async release(): Promise<void> {
    const ends = this.#held.map((agreement) => agreement.end('released_by_initiator').catch(() => undefined));
    await within(this.#releaseMs, Promise.all(ends));
  }
}
