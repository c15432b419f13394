import { randomUUID } from 'node:crypto';
import { AppError } from '@parley/service-kit';
import type { Scalar } from '../skill.js';
import type { AgreementHandle } from './agreement-handle.js';
import { LivingAgreement } from './living-agreement.js';
import type { InvokeResponse, ResponderClient } from './responder-client.js';

export interface InvokeOptions {
  /** Names one piece of work: a repeated call with the same id counts and runs once. Default: a random UUID. */
  readonly callId?: string;
  readonly signal?: AbortSignal;
  /** For the call, its repetition included. Default 60,000. */
  readonly deadlineMs?: number;
  /** Larger answers are refused. Default 1 MiB. */
  readonly maxAnswerBytes?: number;
}

/**
 * Lets the responder do a piece of work under an agreement. Repeated once, under the same id, when the connection is lost.
 * @throws AppError `gone`/`agreement_ended`, `forbidden`/`agreement_scope`, `bad_gateway`/`applied_mismatch` when the
 * work was done with other parameters than were agreed, and what the responder answers.
 */
export async function invokeUnder(
  responder: ResponderClient,
  handle: AgreementHandle,
  capability: string,
  input: Readonly<Record<string, unknown>>,
  options: InvokeOptions = {},
): Promise<InvokeResponse> {
  if (!(handle instanceof LivingAgreement)) throw new TypeError('not an agreement of this package');
  const agreed = handle.parametersOf(capability);
  if (agreed === undefined) {
    throw new AppError('forbidden', `${capability} is not part of the agreement.`, { code: 'agreement_scope' });
  }
  if (handle.endReason !== undefined) {
    throw new AppError('gone', `The agreement has ended: ${handle.endReason}.`, { code: 'agreement_ended' });
  }
  const callId = options.callId ?? randomUUID();
  const answer = await callTwice(responder, handle, { capability, callId, input, options });
  const fault = answerFault(answer, { capability, callId, digest: handle.termsDigest });
  if (fault !== undefined) {
    throw new AppError('bad_gateway', `The peer's answer is not valid: ${fault}.`, { code: 'peer_invalid_answer' });
  }
  const difference = appliedDifference(agreed, answer.applied);
  if (difference !== undefined) {
    throw new AppError('bad_gateway', `The work was not done as agreed: ${difference}.`, { code: 'applied_mismatch' });
  }
  return answer;
}

interface Work {
  readonly capability: string;
  readonly callId: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly options: InvokeOptions;
}

async function callTwice(responder: ResponderClient, handle: LivingAgreement, work: Work): Promise<InvokeResponse> {
  const { options, capability, callId } = work;
  const signal = options.signal ?? new AbortController().signal;
  const deadlineMs = options.deadlineMs ?? 60_000;
  const startedAt = performance.now();
  const request = {
    agreement_id: handle.agreementId,
    terms_digest: handle.termsDigest,
    capability,
    call_id: callId,
    input: toJson(work.input),
    parameters: {},
  };
  const once = (): Promise<InvokeResponse> => {
    const timeoutMs = Math.max(1, deadlineMs - (performance.now() - startedAt));
    return responder.invoke(handle.ref, request, {
      signal,
      timeoutMs,
      maxAnswerBytes: options.maxAnswerBytes ?? 1_048_576,
    });
  };
  try {
    return await once();
  } catch (error) {
    const lost = error instanceof AppError && error.code === 'peer_unreachable';
    try {
      if (lost && !signal.aborted) return await once();
      throw error;
    } catch (final) {
      if (final instanceof AppError) handle.heed(final);
      throw final;
    }
  }
}

type JsonObject = Parameters<ResponderClient['invoke']>[1]['input'];

/** What cannot travel as JSON (functions, `undefined`) is left out here rather than on the way. */
function toJson(input: Readonly<Record<string, unknown>>): JsonObject {
  return JSON.parse(JSON.stringify(input)) as JsonObject;
}

function answerFault(
  answer: InvokeResponse,
  expected: { readonly capability: string; readonly callId: string; readonly digest: string },
): string | undefined {
  if (answer.call_id !== expected.callId) return 'it names another call';
  if (answer.capability !== expected.capability) return 'it names another capability';
  return answer.terms_digest === expected.digest ? undefined : 'it names other terms';
}

/** In which parameter the work differs from what was agreed, in words; undefined: in none. */
export function appliedDifference(
  agreed: Readonly<Record<string, Scalar>>,
  applied: Readonly<Record<string, Scalar>>,
): string | undefined {
  const names = new Set([...Object.keys(agreed), ...Object.keys(applied)]);
  for (const name of names) {
    if (!Object.hasOwn(agreed, name)) return `${name} was applied without being agreed`;
    if (!Object.hasOwn(applied, name)) return `${name} was not applied`;
    if (applied[name] !== agreed[name]) return `${name} was applied with another value`;
  }
  return undefined;
}
