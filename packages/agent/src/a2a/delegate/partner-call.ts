import { randomUUID } from 'node:crypto';
import { AppError, type Logger } from '@parley/service-kit';
import type { AgreementHandle } from '../../initiator/index.js';
import { deadline } from '../../peer/deadline.js';
import { aborted, neverSent } from '../../peer/peer-errors.js';
import { wait } from '../../peer/wait.js';
import { agreementCall, checkApplied, heedAnswer } from '../agreement/index.js';
import { isResting, type A2aConnection, type A2aTask, type A2aUpdate } from '../client/index.js';
import { CollectedWork } from './collected-work.js';
import { delegateFailed, outcomeUnknown, quoted } from './delegate-errors.js';
import type { DelegateLimits } from './delegate-limits.js';
import type { DelegateRequest, DelegateResult } from './delegate.js';
import { HOPS_HEADER, HOPS_METADATA } from './hops.js';

export interface PartnerCallOptions {
  readonly agreement: AgreementHandle;
  readonly capability: string;
  readonly connection: A2aConnection;
  readonly request: DelegateRequest;
  readonly limits: DelegateLimits;
  readonly logger: Logger;
}

/** `next`: the partner has certainly not begun, so somebody else may be asked. */
export type PartnerOutcome =
  | { readonly kind: 'done'; readonly result: Omit<DelegateResult, 'attempts'> }
  | { readonly kind: 'next'; readonly error: AppError };

/** Between two looks at a partner that broke off; the later ones are rarer. */
const LOOK_EVERY_MS = 250;
const LOOK_AT_MOST_EVERY_MS = 1_000;

/** One piece of work at one partner, from the message to the checked result. */
export class PartnerCall {
  readonly #options: PartnerCallOptions;
  readonly #work = new CollectedWork();
  readonly #startedAt = performance.now();
  /** Chosen here, so that a task can be found whose id was never told. */
  readonly #contextId = randomUUID();

  constructor(options: PartnerCallOptions) {
    this.#options = options;
  }

  /** @throws AppError as {@link Delegate} does: the partner has begun, or may have, and nobody else may be asked. */
  async run(): Promise<PartnerOutcome> {
    const { signal } = this.#options.request;
    try {
      const lost = await this.#follow((stop) => this.#send(stop));
      if (lost !== undefined && this.#work.taskId === undefined) {
        const notBegun = await this.#findTask(lost);
        if (notBegun !== undefined) return { kind: 'next', error: notBegun };
      }
      if (!isResting(this.#work.state)) await this.#settle(lost);
      return { kind: 'done', result: await this.#result() };
    } catch (error) {
      if (!signal.aborted) throw error;
      await this.#cancel();
      throw aborted(signal);
    }
  }

  #send(signal: AbortSignal): AsyncIterable<A2aUpdate> {
    const { agreement, capability, connection, request, limits } = this.#options;
    const { metadata, headers, extensions } = agreementCall(agreement, capability);
    const hops = request.hops + 1;
    return connection.stream(request.parts, {
      extensions,
      headers: { ...headers, [HOPS_HEADER]: String(hops) },
      metadata: { ...metadata, [HOPS_METADATA]: hops },
      contextId: this.#contextId,
      signal,
      deadlineMs: limits.taskMs,
    });
  }

  /** @returns why the stream stopped before the task rested. @throws AppError for an abort, and for too much. */
  async #follow(open: (stop: AbortSignal) => AsyncIterable<A2aUpdate>): Promise<AppError | undefined> {
    const { request, limits } = this.#options;
    const first = deadline(limits.firstAnswerMs);
    const stop = new AbortController();
    let grace: NodeJS.Timeout | undefined;
    // A task whose id was not told yet could not be cancelled: its first word is waited for.
    const giveUp = (): void => {
      const ms = this.#work.taskId === undefined ? limits.cancelMs / 2 : 0;
      grace = setTimeout(() => {
        stop.abort(request.signal.reason);
      }, ms);
    };
    if (this.#isAborted()) throw aborted(request.signal);
    request.signal.addEventListener('abort', giveUp, { once: true });
    try {
      for await (const update of open(AbortSignal.any([first.signal, stop.signal]))) {
        first.clear();
        this.#add(update);
        if (this.#isAborted()) throw aborted(request.signal);
        if (isResting(this.#work.state)) return undefined;
        if (this.#work.bytes > limits.maxArtifactBytes) throw tooMuch(this.#options);
      }
      return undefined;
    } catch (thrown) {
      const error = AppError.from(thrown);
      if (this.#isAborted()) throw error;
      if (error.code !== TOO_MUCH) return error;
      await this.#cancel();
      throw delegateFailed(this.#options.agreement.agentId, 'made more than is taken', error);
    } finally {
      first.clear();
      clearTimeout(grace);
      request.signal.removeEventListener('abort', giveUp);
    }
  }

  #isAborted(): boolean {
    return this.#options.request.signal.aborted;
  }

  #add(update: A2aUpdate): void {
    this.#work.add(update);
    const { request, logger } = this.#options;
    try {
      request.onUpdate?.(update);
      if (update.kind !== 'status' || update.message === undefined || isResting(update.state)) return;
      const { text } = this.#work;
      if (text !== undefined) request.onProgress?.(text);
    } catch (error) {
      logger.warn('A listener to progress failed', { error });
    }
  }

  /**
   * The message was sent, but no task was ever told of.
   * @returns why the partner has certainly not begun; undefined if there is a task.
   * @throws AppError `delegate_failed` when nobody can tell.
   */
  async #findTask(lost: AppError): Promise<AppError | undefined> {
    const { agreement, limits, request } = this.#options;
    if (isRefusal(lost)) {
      heedAnswer(agreement, lost);
      return lost;
    }
    if (neverSent(lost)) return lost;
    const limit = deadline(limits.settleMs, request.signal);
    try {
      for (let look = 0; !limit.signal.aborted; look += 1) {
        try {
          const task = await this.#taskOfContext(limit.signal, limits.settleMs);
          if (task === undefined) return lost;
          this.#add({ kind: 'task', task });
          return undefined;
        } catch (thrown) {
          const error = AppError.from(thrown);
          // Nobody is there any more: whatever took the message went down without a word.
          if (neverSent(error)) return error;
          if (isRefusal(error)) break;
        }
        await pause(look, limit.signal);
      }
    } finally {
      limit.clear();
    }
    throw request.signal.aborted ? aborted(request.signal) : outcomeUnknown(agreement.agentId, lost);
  }

  async #taskOfContext(signal: AbortSignal, deadlineMs: number): Promise<A2aTask | undefined> {
    const page = await this.#options.connection.listTasks(
      { contextId: this.#contextId, includeArtifacts: true, pageSize: 1 },
      { signal, deadlineMs },
    );
    return page.tasks.find(({ contextId }) => contextId === this.#contextId);
  }

  /** Looks at the task, and follows it again, until it rests; gives up when the partner is silent for too long. */
  async #settle(lost: AppError | undefined): Promise<void> {
    const { connection, limits, request, agreement } = this.#options;
    const { taskId } = this.#work;
    if (taskId === undefined) throw outcomeUnknown(agreement.agentId, lost);
    let heardAt = performance.now();
    for (let look = 0; ; look += 1) {
      if (this.#isAborted()) throw aborted(request.signal);
      await this.#ensureTime();
      try {
        const task = await connection.getTask(taskId, { signal: request.signal, deadlineMs: limits.settleMs });
        heardAt = performance.now();
        this.#add({ kind: 'task', task });
        if (isResting(task.state)) return;
        await this.#follow((signal) => connection.subscribe(taskId, { signal, deadlineMs: this.#timeLeft() }));
        if (isResting(this.#work.state)) return;
      } catch (thrown) {
        const error = AppError.from(thrown);
        if (this.#isAborted()) throw error;
        const isGone = isRefusal(error) || performance.now() - heardAt > limits.settleMs;
        if (isGone) throw error.code === 'delegate_failed' ? error : outcomeUnknown(agreement.agentId, error);
      }
      await pause(look, request.signal);
    }
  }

  #timeLeft(): number {
    return Math.max(1, this.#options.limits.taskMs - (performance.now() - this.#startedAt));
  }

  async #ensureTime(): Promise<void> {
    if (this.#timeLeft() > 1) return;
    await this.#cancel();
    throw delegateFailed(this.#options.agreement.agentId, 'took too long; its task was cancelled');
  }

  async #result(): Promise<Omit<DelegateResult, 'attempts'>> {
    const { agreement, capability } = this.#options;
    const { state, text, artifacts, metadata, taskId = '' } = this.#work;
    const { agentId, agreementId } = agreement;
    if (state === 'input_required' || state === 'auth_required') {
      await this.#cancel();
      throw delegateFailed(agentId, `asked for something that nobody here can answer${quoted(text)}`);
    }
    if (state !== 'completed') throw delegateFailed(agentId, `ended the task ${state}${quoted(text)}`);
    const { applied } = checkApplied({ metadata }, agreement, capability);
    return { agentId, taskId, agreementId, applied, text, artifacts };
  }

  /** Bounded, and never throws: whoever cancels waits for it. */
  async #cancel(): Promise<void> {
    const { connection, limits, logger, agreement } = this.#options;
    const deadlineMs = limits.cancelMs / 2;
    const limit = deadline(deadlineMs);
    try {
      const taskId = this.#work.taskId ?? (await this.#taskOfContext(limit.signal, deadlineMs))?.taskId;
      if (taskId !== undefined) await connection.cancelTask(taskId, { signal: limit.signal, deadlineMs });
    } catch (error) {
      // It had ended by itself in the meantime.
      if (error instanceof AppError && error.code === 'task_not_cancelable') return;
      logger.warn(`The task at ${agreement.agentId} could not be cancelled`, { task_id: this.#work.taskId, error });
    } finally {
      limit.clear();
    }
  }
}

const TOO_MUCH = 'too_much';

function tooMuch({ limits }: PartnerCallOptions): AppError {
  return new AppError('bad_gateway', `More than ${String(limits.maxArtifactBytes)} bytes.`, { code: TOO_MUCH });
}

/** Whether the partner itself said no, rather than something having gone wrong with it or on the way. */
function isRefusal({ reason, code }: AppError): boolean {
  if (code === 'peer_unreachable') return false;
  return !['bad_gateway', 'internal', 'deadline_exceeded', 'request_timeout', 'cancelled'].includes(reason);
}

async function pause(look: number, signal: AbortSignal): Promise<void> {
  await wait(Math.min(LOOK_EVERY_MS * 2 ** Math.min(look, 10), LOOK_AT_MOST_EVERY_MS), signal);
}
