import { createHash } from 'node:crypto';
import { AppError, validate, type Logger } from '@parley/service-kit';
import type { TaskExecutor } from '../a2a/task-executor.js';
import type { AgreementKeeper, CallReservation } from '../agreements/index.js';
import type { InvokeResponse } from '../initiator/index.js';
import { deadline } from '../peer/deadline.js';
import { aborted } from '../peer/peer-errors.js';
import { orAborted } from '../peer/wait.js';
import type { InvokeRequest } from '../wire/agreement.js';
import type { AgentEvents, AgentSettings, AnySkill } from './agent-options.js';
import { AnswerMemory } from './answer-memory.js';
import { outputOf, taskOfCall, UNHEARD } from './call-task.js';

export interface CallRunnerOptions {
  readonly keeper: Pick<AgreementKeeper, 'reserveCall'>;
  /** What may be called, and the shape of its input. */
  readonly skills: readonly AnySkill[];
  /** Who does it. */
  readonly executor: TaskExecutor;
  readonly settings: Pick<
    AgentSettings,
    'maxConcurrentCalls' | 'callDeadlineMs' | 'rememberedAnswers' | 'rememberedAnswerBytes' | 'rememberAnswerMs'
  >;
  readonly logger: Logger;
  readonly now: () => number;
  readonly onCall: (event: AgentEvents['call']) => void;
}

export interface InvokeCaller {
  /** The secret of the initiator, from the header `Parley-Agreement-Proof`. */
  readonly proof: string | undefined;
  /** Ends the waiting for the answer, not the work: the same call may be asked for again. */
  readonly signal: AbortSignal;
}

interface Running {
  readonly digest: string;
  readonly answer: Promise<InvokeResponse>;
}

/** Does the work that agreements admit: each call id once, with the agreed parameters, a bounded number at a time. */
export class CallRunner {
  readonly #options: CallRunnerOptions;
  readonly #skills: ReadonlyMap<string, AnySkill>;
  readonly #running = new Map<string, Running>();
  readonly #memory: AnswerMemory;
  readonly #stopping = new AbortController();

  constructor(options: CallRunnerOptions) {
    this.#options = options;
    this.#skills = new Map(options.skills.map((skill) => [skill.capability, skill]));
    const { rememberedAnswers, rememberedAnswerBytes, rememberAnswerMs } = options.settings;
    this.#memory = new AnswerMemory({
      maxAnswers: rememberedAnswers,
      maxBytes: rememberedAnswerBytes,
      keepMs: rememberAnswerMs,
      now: options.now,
    });
  }

  /** @throws AppError as the keeper's `reserveCall`; `conflict`/`call_id_conflict`; `unavailable`/`busy`; of the skill. */
  async handle(request: InvokeRequest, { proof, signal }: InvokeCaller): Promise<InvokeResponse> {
    const reservation = await this.#options.keeper.reserveCall({
      agreementId: request.agreement_id,
      termsDigest: request.terms_digest,
      capability: request.capability,
      parameters: request.parameters,
      callId: request.call_id,
      proof,
    });
    const key = `${request.agreement_id}\n${request.call_id}`;
    const digest = digestOf(request);
    const before = this.#running.get(key);
    const known = before ?? this.#memory.get(key);
    if (known !== undefined) {
      void reservation.release();
      if (known.digest !== digest) throw differentCall();
      return 'answer' in known ? orAborted(known.answer, signal, () => aborted(signal)) : known.response;
    }
    if (this.#running.size >= this.#options.settings.maxConcurrentCalls || this.#stopping.signal.aborted) {
      void reservation.release();
      throw new AppError('unavailable', 'As many calls as possible are running.', {
        code: 'busy',
        retryAfterSeconds: 1,
      });
    }
    const answer = this.#work(request, reservation, key, digest);
    this.#running.set(key, { digest, answer });
    return orAborted(answer, signal, () => aborted(signal));
  }

  /** Waits for running calls, then aborts what is left. */
  async stop(drainMs: number): Promise<void> {
    const limit = deadline(drainMs);
    const all = Promise.allSettled([...this.#running.values()].map(({ answer }) => answer));
    try {
      await orAborted(all, limit.signal, () => limit.signal.reason).catch(() => undefined);
    } finally {
      limit.clear();
      this.#stopping.abort(new AppError('unavailable', 'The agent is shutting down.', { code: 'shutting_down' }));
    }
  }

  async #work(
    request: InvokeRequest,
    reservation: CallReservation,
    key: string,
    digest: string,
  ): Promise<InvokeResponse> {
    const { logger, now, onCall } = this.#options;
    const startedAt = now();
    let ok = false;
    try {
      const response = await this.#run(request, reservation);
      ok = true;
      this.#memory.put(key, { digest, response });
      return response;
    } catch (thrown) {
      const error = AppError.from(thrown);
      const fields = { agreement_id: request.agreement_id, call_id: request.call_id, code: error.code };
      if (error.status >= 500) logger.error(`The call of ${request.capability} failed`, { ...fields, error });
      else logger.info(`The call of ${request.capability} was refused`, fields);
      throw error;
    } finally {
      this.#running.delete(key);
      await reservation.release();
      onCall({
        agreementId: request.agreement_id,
        capability: request.capability,
        callId: request.call_id,
        ok,
        durationMs: now() - startedAt,
      });
    }
  }

  async #run(request: InvokeRequest, reservation: CallReservation): Promise<InvokeResponse> {
    const skill = this.#skills.get(request.capability);
    if (skill === undefined) {
      throw new AppError('failed_precondition', `${request.capability} cannot be called here.`, {
        code: 'capability_not_callable',
      });
    }
    // A call is no conversation: whatever its input lacks is refused, not asked for.
    validate(skill.input, request.input);
    const limit = deadline(this.#options.settings.callDeadlineMs, this.#stopping.signal);
    try {
      const work = this.#options.executor.execute(taskOfCall(request, reservation, limit.signal), UNHEARD);
      const outcome = await orAborted(work, limit.signal, () => tooLate(limit.expired(), limit.signal));
      return {
        call_id: request.call_id,
        capability: request.capability,
        output: asJson(outputOf(outcome)),
        applied: { ...reservation.applied },
        terms_digest: reservation.termsDigest,
        remaining: reservation.remaining,
      };
    } catch (error) {
      // Work that heeds the abort may be heard before the abort itself is.
      throw limit.signal.aborted ? tooLate(limit.expired(), limit.signal) : error;
    } finally {
      limit.clear();
    }
  }
}

function tooLate(expired: boolean, signal: AbortSignal): AppError {
  if (!expired) return aborted(signal);
  return new AppError('deadline_exceeded', 'The work took too long.', { code: 'call_deadline' });
}

function differentCall(): AppError {
  return new AppError('conflict', 'This call id was used for another piece of work.', { code: 'call_id_conflict' });
}

/** The same bytes for a repeated answer, whatever becomes of the object later. */
function asJson(output: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const plain: unknown = JSON.parse(JSON.stringify(output));
  if (typeof plain !== 'object' || plain === null || Array.isArray(plain))
    throw new TypeError('a skill must give an object');
  return plain as Record<string, unknown>;
}

function digestOf({ capability, input }: InvokeRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([capability, input]))
    .digest('base64url');
}
