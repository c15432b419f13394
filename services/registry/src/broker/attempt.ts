import { negotiationResponse, type NegotiationResponse, type PeerHttp } from '@parley/agent';
import { AppError } from '@parley/service-kit';
import type { Candidate } from './candidates.js';

/** What came of asking one candidate. Silence is `timeout`, never a refusal. */
export interface Attempt {
  readonly candidate: Candidate;
  readonly outcome:
    | 'accepted'
    | 'countered'
    | 'declined'
    | 'timeout'
    | 'unreachable'
    | 'invalid_answer'
    | 'target_refused'
    | 'error'
    | 'withdrawn';
  readonly durationMs: number;
  readonly reason?: string;
  readonly answer?: NegotiationResponse;
  /** What the candidate answered in place of terms: the request itself was wrong in its eyes. */
  readonly refusal?: AppError;
}

export interface AskOptions {
  readonly peer: PeerHttp;
  readonly candidate: Candidate;
  readonly proposal: object;
  readonly sessionId: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What goes to a candidate, a proposal or a withdrawal, and its checked answer. @throws AppError as the peer client does. */
export async function postNegotiation(
  peer: PeerHttp,
  candidate: Candidate,
  body: object,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<NegotiationResponse> {
  const url = `${candidate.endpoint.replace(/\/+$/, '')}/negotiate`;
  return (await peer.request({ method: 'POST', url, body, schema: negotiationResponse, signal, timeoutMs })).body;
}

/** Never rejects. */
export async function askCandidate(options: AskOptions): Promise<Attempt> {
  const { candidate } = options;
  const started = performance.now();
  try {
    const body = await postNegotiation(options.peer, candidate, options.proposal, options);
    const durationMs = performance.now() - started;
    if (body.session_id !== options.sessionId) {
      return { candidate, outcome: 'invalid_answer', durationMs, reason: 'the answer names another session' };
    }
    return {
      candidate,
      outcome: body.outcome,
      durationMs,
      answer: body,
      ...(body.reason === undefined ? {} : { reason: body.reason.code }),
    };
  } catch (thrown) {
    return failed(candidate, performance.now() - started, AppError.from(thrown));
  }
}

const OUTCOME_OF_CODE: Readonly<Record<string, Attempt['outcome']>> = {
  peer_timeout: 'timeout',
  deadline_exceeded: 'timeout',
  peer_unreachable: 'unreachable',
  peer_invalid_answer: 'invalid_answer',
  target_refused: 'target_refused',
  cancelled: 'withdrawn',
};

function failed(candidate: Candidate, durationMs: number, error: AppError): Attempt {
  const outcome = OUTCOME_OF_CODE[error.code];
  if (outcome !== undefined) return { candidate, outcome, durationMs };
  const known = error.status < 500 ? { refusal: error } : {};
  return { candidate, outcome: 'error', durationMs, reason: error.code, ...known };
}
