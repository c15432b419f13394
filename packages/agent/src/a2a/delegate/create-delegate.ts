import type { Tracer } from '@opentelemetry/api';
import { AppError, silentLogger, type Logger } from '@parley/service-kit';
import type { Agent } from '../../agent/agent.js';
import { NegotiationFailed, type Accepted, type AgreementHandle } from '../../initiator/index.js';
import { deadline } from '../../peer/deadline.js';
import { aborted } from '../../peer/peer-errors.js';
import type { NegotiationAttempt } from '../../registry-client/index.js';
import { connectA2a, type A2aConnection } from '../client/index.js';
import { tooDeep } from './delegate-errors.js';
import { DEFAULT_DELEGATE_LIMITS, type DelegateLimits } from './delegate-limits.js';
import type { Delegate, DelegateRequest, DelegateResult } from './delegate.js';
import { inDelegateSpan, type DelegateSpan } from './delegate-span.js';
import { PartnerCall, type PartnerOutcome } from './partner-call.js';

export interface DelegateOptions {
  readonly agent: Pick<Agent, 'negotiateFirst'>;
  readonly registryUrl: string;
  /** How an agent is spoken with. Default: `connectA2a` at its endpoint. */
  readonly connect?: (
    partner: { readonly agentId: string; readonly endpoint: string },
    signal: AbortSignal,
  ) => Promise<A2aConnection>;
  readonly limits?: Partial<DelegateLimits>;
  readonly logger?: Logger;
  /** Default: the tracer `parley.agent` of the provider that is registered when a span begins. */
  readonly tracer?: Tracer;
}

/**
 * Hands work on: asks who can do it, agrees with one of them, lets it work and follows it. While nobody has begun, the
 * next one is asked; after that never, because the work might be done twice. All of it is one span,
 * `delegate <capability>`.
 */
export function createDelegate(options: DelegateOptions): Delegate {
  const limits = { ...DEFAULT_DELEGATE_LIMITS, ...options.limits };
  const run = { ...options, limits, logger: options.logger ?? silentLogger, connect: options.connect ?? connectTo };
  return (request) => inDelegateSpan(options.tracer, request, (span) => handOn(run, request, span));
}

async function handOn(run: Run, request: DelegateRequest, span: DelegateSpan): Promise<DelegateResult> {
  const { limits, logger } = run;
  if (request.hops >= limits.maxHops) throw tooDeep(limits.maxHops);
  const asked: NegotiationAttempt[] = [];
  for (let partners = 0; partners < limits.maxPartners; partners += 1) {
    if (request.signal.aborted) throw aborted(request.signal);
    const startedAt = performance.now();
    const { agreement, attempts } = await negotiate(run, request, asked, span);
    span.chose(agreement);
    asked.push(...attempts.filter(({ outcome }) => outcome !== 'accepted'));
    span.attempted(asked);
    const outcome = await workUnder(run, request, agreement);
    if (outcome.kind === 'done') return { ...outcome.result, attempts: asked.map(shown) };
    asked.push(attemptOf(agreement.agentId, outcome.error, performance.now() - startedAt));
    span.attempted(asked);
    logger.info(`${agreement.agentId} did not begin, trying the next candidate`, { error: outcome.error });
  }
  throw new NegotiationFailed(asked, { retryable: true });
}

type Run = Required<Omit<DelegateOptions, 'tracer'>> & { readonly limits: DelegateLimits };

async function negotiate(
  { agent, registryUrl, limits }: Run,
  { capability, parameters, signal }: DelegateRequest,
  asked: readonly NegotiationAttempt[],
  span: DelegateSpan,
): Promise<Accepted> {
  try {
    return await agent.negotiateFirst(registryUrl, [capability], parameters, {
      exclude: asked.map(({ agent_id }) => agent_id),
      candidateTimeoutMs: limits.candidateTimeoutMs,
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw aborted(signal);
    if (!(error instanceof NegotiationFailed)) throw error;
    const all = [...asked, ...error.attempts];
    span.attempted(all);
    throw asked.length === 0 ? error : new NegotiationFailed(all, { retryable: error.reason === 'unavailable' });
  }
}

/** The agreement is given back, whatever becomes of the work. */
async function workUnder(run: Run, request: DelegateRequest, agreement: AgreementHandle): Promise<PartnerOutcome> {
  let reason = 'released_by_initiator';
  let connection: A2aConnection | undefined;
  try {
    const reached = await reach(run, request.signal, agreement);
    if (reached instanceof AppError) return { kind: 'next', error: reached };
    connection = reached;
    const { limits, logger } = run;
    const capability = request.capability.replace(/@.*$/u, '');
    const call = new PartnerCall({ agreement, capability, connection, request, limits, logger });
    const outcome = await call.run();
    if (outcome.kind === 'done') reason = 'completed';
    return outcome;
  } catch (error) {
    if (error instanceof AppError && error.code === 'agreement_applied_mismatch') reason = 'breach';
    throw error;
  } finally {
    void agreement.end(reason);
    await connection?.close();
  }
}

/** @returns what kept it from being reached. */
async function reach(
  { connect, limits }: Run,
  signal: AbortSignal,
  { agentId, endpoint }: AgreementHandle,
): Promise<A2aConnection | AppError> {
  const limit = deadline(limits.firstAnswerMs, signal);
  try {
    return await connect({ agentId, endpoint }, limit.signal);
  } catch (error) {
    if (signal.aborted) throw aborted(signal);
    return AppError.from(error);
  } finally {
    limit.clear();
  }
}

function connectTo({ endpoint }: { readonly endpoint: string }, signal: AbortSignal): Promise<A2aConnection> {
  return connectA2a({ url: endpoint, signal });
}

function attemptOf(agentId: string, { code }: AppError, durationMs: number): NegotiationAttempt {
  const outcomes: Readonly<Record<string, NegotiationAttempt['outcome']>> = {
    peer_unreachable: 'unreachable',
    peer_timeout: 'timeout',
    target_refused: 'target_refused',
    peer_invalid_answer: 'invalid_answer',
    stream_broken: 'unreachable',
  };
  return {
    agent_id: agentId,
    outcome: outcomes[code] ?? 'declined',
    reason: code,
    duration_ms: Math.round(durationMs),
  };
}

function shown({ agent_id, outcome, reason }: NegotiationAttempt): { agentId: string; outcome: string } {
  return {
    agentId: agent_id,
    outcome: reason === undefined || reason === outcome ? outcome : `${outcome} (${reason})`,
  };
}
