import { AppError, type Logger } from '@parley/service-kit';
import type { AgreementEvent } from '../agreements/index.js';
import { httpResponderClient } from '../initiator/index.js';
import { backoffMs } from '../peer/backoff.js';
import { deadline } from '../peer/deadline.js';
import { isTransient, wait, type PeerHttp } from '../peer/index.js';
import type { RegistryClient } from '../registry-client/index.js';

export interface EndNotifierOptions {
  readonly http: PeerHttp;
  /** Where initiators are to be found; undefined: no registry is known. */
  readonly registry: () => Pick<RegistryClient, 'get'> | undefined;
  readonly logger: Logger;
  readonly random: () => number;
  /** At the same time; more are left to the lease. Default 256. */
  readonly maxPending?: number;
}

const BACKOFF = { baseMs: 200, capMs: 2_000 };
const TELL_MS = 10_000;

/** As the responder: tells initiators that an agreement is over. Their lease ends it too, only later. */
export class EndNotifier {
  readonly #options: EndNotifierOptions;
  readonly #pending = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(options: EndNotifierOptions) {
    this.#options = options;
  }

  ended({ agreement, record }: AgreementEvent): void {
    const reason = agreement.end_reason;
    if (reason === undefined || record.endedBy === 'initiator' || KNOWN_THERE.has(reason)) return;
    if (this.#closing.signal.aborted || this.#pending.size >= (this.#options.maxPending ?? 256)) return;
    const work: Promise<void> = this.#tell(
      agreement.agreement_id,
      agreement.terms.initiator,
      agreement.terms_digest,
      record.responderProofSecret,
      reason,
    );
    this.#pending.add(work);
    void work.finally(() => this.#pending.delete(work));
  }

  /** Waits for what is under way, then gives up. */
  async stop(withinMs: number): Promise<void> {
    const limit = deadline(withinMs);
    const abort = (): void => {
      this.#closing.abort();
    };
    limit.signal.addEventListener('abort', abort, { once: true });
    await Promise.allSettled([...this.#pending]);
    abort();
    limit.clear();
  }

  async #tell(
    agreementId: string,
    initiator: string,
    termsDigest: string,
    proof: string,
    reason: string,
  ): Promise<void> {
    const { http, registry, logger, random } = this.#options;
    const limit = deadline(TELL_MS, this.#closing.signal);
    const call = { signal: limit.signal, timeoutMs: 2_000 };
    try {
      for (let attempt = 0; !limit.signal.aborted; attempt += 1) {
        try {
          const endpoint = await endpointOf(registry(), initiator, limit.signal);
          if (endpoint === undefined) return;
          await httpResponderClient(http).end({ endpoint, agreementId, termsDigest, proof }, reason, call);
          return;
        } catch (thrown) {
          const error = AppError.from(thrown);
          if (!isTransient(error)) {
            logger.debug(`${initiator} does not take the end of an agreement`, {
              agreement_id: agreementId,
              code: error.code,
            });
            return;
          }
          await wait(backoffMs(attempt, { ...BACKOFF, random }), limit.signal);
        }
      }
    } finally {
      limit.clear();
    }
  }
}

/** Ends that the other side sees by its own clock, or that it cannot be told. */
const KNOWN_THERE = new Set<string>([
  'expired',
  'not_confirmed',
  'renewal_declined',
  'party_deregistered',
  'party_unreachable',
]);

/** Undefined when no registry knows: then there is nobody to tell. */
async function endpointOf(
  registry: Pick<RegistryClient, 'get'> | undefined,
  agentId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return (await registry?.get(agentId, { signal }))?.agent.endpoint;
  } catch (error) {
    if (error instanceof AppError && error.reason === 'not_found') return undefined;
    throw error;
  }
}
