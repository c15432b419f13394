import { validate, type LogFields, type Logger } from '@parley/service-kit';
import type { OfferedCapabilities } from '../src/negotiation/match-capabilities.js';
import { newProof } from '../src/negotiation/proof.js';
import type { CapabilityDetail } from '../src/skill.js';
import type { Agreement } from '../src/wire/agreement.js';
import type { NegotiationResponse } from '../src/wire/answers.js';
import { negotiationRequest, type NegotiationInput, type NegotiationRequest } from '../src/wire/negotiation.js';
import { createAgreementKeeper } from '../src/agreements/agreement-keeper.js';
import type { AgreementEvent, AgreementKeeper, AgreementKeeperOptions } from '../src/agreements/keeper-types.js';

export const START = Date.parse('2026-01-01T00:00:00Z');

export const CODE_REVIEW: CapabilityDetail = {
  version: '1.2.0',
  parameters: {
    language: { type: 'string', enum: ['en', 'ru', 'de'], default: 'en' },
    depth: { type: 'integer', minimum: 1, maximum: 5, default: 3 },
  },
};

/** A clock that only moves when it is told to. */
export interface ManualClock {
  readonly now: () => number;
  advance(ms: number): void;
}

export function manualClock(start = START): ManualClock {
  let at = start;
  return {
    now: () => at,
    advance: (ms) => {
      at += ms;
    },
  };
}

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

export interface KeeperFixture {
  readonly keeper: AgreementKeeper;
  readonly clock: ManualClock;
  readonly events: AgreementEvent[];
  readonly logs: LogLine[];
  readonly capabilities: Map<string, CapabilityDetail>;
}

export function keeperFixture(
  options: Partial<Omit<AgreementKeeperOptions, 'now'>> & { readonly clock?: ManualClock } = {},
): KeeperFixture {
  const { clock = manualClock(), ...rest } = options;
  const capabilities = new Map<string, CapabilityDetail>([
    ['code_review', CODE_REVIEW],
    ['translate', {}],
  ]);
  const logs: LogLine[] = [];
  const keeper = createAgreementKeeper({
    agentId: 'agent_B',
    capabilities: (): OfferedCapabilities => capabilities,
    now: clock.now,
    logger: collectingLogger(logs),
    ...rest,
  });
  const events: AgreementEvent[] = [];
  keeper.onEvent((event) => events.push(event));
  return { keeper, clock, events, logs, capabilities };
}

function collectingLogger(lines: LogLine[]): Logger {
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}): void => {
      lines.push({ level, message, fields });
    };
  const logger: Logger = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    step: (step, message, fields = {}) => {
      lines.push({ level: 'step', message, fields: { step, ...fields } });
    },
    child: () => logger,
  };
  return logger;
}

let sessions = 0;

/** A checked request in a session of its own, unless it names one. */
export function request(input: Partial<NegotiationInput> = {}): NegotiationRequest {
  sessions += 1;
  const proposes = (input.action ?? 'propose') === 'propose';
  return validate(negotiationRequest, {
    session_id: `session-${String(sessions)}`,
    agent_id: 'agent_A',
    ...(proposes ? { capabilities: ['code_review'] } : {}),
    ...input,
  });
}

export interface Agreed {
  readonly answer: NegotiationResponse;
  readonly agreement: Agreement;
  readonly id: string;
  /** The initiator's secret. */
  readonly proof: string;
}

/** Agrees, without a confirmation (`pending`) or with the secret made by the keeper (active at once). */
export async function agree(
  keeper: AgreementKeeper,
  input: Partial<NegotiationInput> & { readonly pending?: boolean } = {},
): Promise<Agreed> {
  const { pending = false, ...rest } = input;
  const own = newProof();
  const answer = await keeper.negotiate(request({ ...rest, ...(pending ? { proof_hash: own.hash } : {}) }));
  const { agreement } = answer;
  if (agreement === undefined) throw new Error(`no agreement but ${answer.outcome} ${answer.reason?.code ?? ''}`);
  return {
    answer,
    agreement,
    id: agreement.agreement_id,
    proof: pending ? own.secret : (answer.agreement_proof ?? ''),
  };
}

/** The code and reason of the AppError that a promise is rejected with. */
export async function refusal(
  promise: Promise<unknown>,
): Promise<{ readonly code: unknown; readonly reason: unknown }> {
  try {
    await promise;
  } catch (error) {
    const { code, reason } = error as { code?: unknown; reason?: unknown };
    return { code, reason };
  }
  throw new Error('was not refused');
}
