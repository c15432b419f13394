import { AppError } from '@parley/service-kit';

export function tooDeep(maxHops: number): AppError {
  return new AppError('failed_precondition', `The work has been handed on ${String(maxHops)} times already.`, {
    code: 'delegation_too_deep',
  });
}

/** @param why what the partner did, as in "ended the task failed". */
export function delegateFailed(agentId: string, why: string, cause?: unknown): AppError {
  return new AppError('bad_gateway', `${agentId} ${why}.`, { code: 'delegate_failed', cause });
}

/** Nobody else may be asked after this: the work might be done twice. */
export function outcomeUnknown(agentId: string, cause?: unknown): AppError {
  return delegateFailed(agentId, 'broke off after it may have begun: what it did is not known', cause);
}

/** What a partner says, short enough for a sentence. */
export function quoted(text: string | undefined): string {
  if (text === undefined || text.trim() === '') return '';
  const line = text.replace(/\s+/gu, ' ').trim();
  return `: ${line.length <= 300 ? line : `${line.slice(0, 300).toWellFormed()}...`}`;
}
