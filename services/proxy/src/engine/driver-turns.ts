import { hashOfNewToken, isTokenOf } from '../domain/driver-token.js';
import { Refusal, type TurnEnd } from '../domain/facts.js';
import { alreadyClaimed, callsNotRun, stopping } from '../domain/refusals.js';
import type { EngineCore } from './engine-core.js';
import type { ProxyEngine, TurnView } from './engine-types.js';
import { Gate } from './gate.js';
import type { TurnCloser } from './turn-closer.js';
import { OpenTurnView } from './views.js';

type Ask<K extends 'next' | 'reply'> = Parameters<ProxyEngine[K]>[0];

/** What a driver does with the proxy and its turns as a whole: claim it, see what is open, answer. */
export class DriverTurns {
  readonly #claims = new Gate();

  constructor(
    private readonly core: EngineCore,
    private readonly closer: TurnCloser,
  ) {}

  async claim(token: string, { agreementId }: { readonly agreementId?: string } = {}): Promise<void> {
    const hash = hashOfNewToken(token);
    if (this.core.isStopping) throw stopping();
    const admitted = this.#claims.hold();
    if (admitted !== undefined) await admitted;
    try {
      const { tokenHash } = this.core.state;
      if (tokenHash === undefined) {
        const under = agreementId === undefined ? {} : { agreementId };
        const fact = { kind: 'claimed', at: this.core.times.now(), tokenHash: hash, ...under } as const;
        const kept = this.core.keeper.keep('proxy', fact);
        if (kept !== undefined) await kept;
      } else if (!isTokenOf(tokenHash, token)) throw alreadyClaimed();
    } finally {
      this.#claims.release();
    }
  }

  async release(agreementId: string): Promise<void> {
    const admitted = this.#claims.hold();
    if (admitted !== undefined) await admitted;
    try {
      if (this.core.state.claim?.agreementId !== agreementId) return;
      const kept = this.core.keeper.keep('proxy', { kind: 'released', at: this.core.times.now(), agreementId });
      if (kept !== undefined) await kept;
      // Whoever waits with the token that is over is told so by its next call.
      this.core.drivers.wake();
    } finally {
      this.#claims.release();
    }
  }

  async next({ token, after, signal }: Ask<'next'>): Promise<{ version: number; turns: readonly TurnView[] }> {
    this.core.checkToken(token);
    const { state, drivers, longPollMs } = this.core;
    if (state.version <= after) {
      await drivers.wait(longPollMs, signal);
      // The claim may have been released meanwhile: what is open is then another driver's.
      if (!this.core.isStopping) this.core.checkToken(token);
    }
    const turns: TurnView[] = [];
    for (const turn of state.openTurns.values()) if (turn.isOpen) turns.push(new OpenTurnView(turn));
    return { version: state.version, turns };
  }

  /** Accepted, and its commands ended, when it resolves; sessions close after. */
  async reply({ token, taskId, texts, error }: Ask<'reply'>): Promise<void> {
    const end = endOf(texts, error);
    this.core.checkToken(token);
    const { run } = this.core.openTurn(taskId);
    const admitted = run.gate.hold();
    if (admitted !== undefined) await admitted;
    let closed: Promise<void>;
    try {
      const { state } = this.core.openTurn(taskId);
      if (texts !== undefined && state.expected.size > 0) throw callsNotRun(state.expected.names());
      const fact = { kind: 'turn_ending', taskId, at: this.core.times.now(), end } as const;
      const kept = this.core.keeper.keep(taskId, fact);
      if (kept !== undefined) await kept;
      closed = this.closer.close(run, end);
    } finally {
      run.gate.release();
    }
    // Whoever hears that a turn is over finds no command of it running; the closing bounds the wait.
    const commands = [...run.actions.values()].filter(({ action, isOver }) => action.kind === 'bash' && !isOver);
    if (commands.length === 0) return;
    const ended = Promise.all(commands.map(({ settled }) => settled));
    await Promise.race([ended, closed.catch(() => undefined)]);
  }
}

function endOf(texts: readonly string[] | undefined, error: string | undefined): TurnEnd {
  if ((texts === undefined) === (error === undefined)) {
    throw new Refusal(400, 'a reply carries exactly one of parts and error');
  }
  if (texts?.length === 0) throw new Refusal(400, 'a reply has at least one part');
  return error === undefined
    ? { state: 'completed', texts: texts ?? [] }
    : { state: 'failed', errorCode: 'proxy.driver_error', errorType: 'agent_error', error };
}
