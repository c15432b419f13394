import type { PermissionKind, PermissionOption, PermissionQuestion } from './permission-question.js';

/**
 * `reject`: the option that refuses this once, else the one that refuses for ever, only then "cancelled", which stops
 * the child's whole turn. `allow`: the option that allows this once, never one that allows for ever. `allow-always`:
 * the one that allows for ever, else the one for once. Where nothing can be allowed it is refused.
 */
export type PermissionPolicy = 'reject' | 'allow' | 'allow-always';

/** What a callback may answer; `optionId` names one of the options of the question. */
export type PermissionAnswer = PermissionPolicy | 'cancel' | { readonly optionId: string };

/**
 * Decides for somebody. The signal is aborted when nobody waits for its answer any more: the run was cancelled or ended,
 * the child is gone, or the time was over. When it throws or is late, the request is refused.
 */
export type PermissionCallback = (
  question: PermissionQuestion,
  signal: AbortSignal,
) => PermissionAnswer | Promise<PermissionAnswer>;

export type PermissionOutcome =
  { readonly outcome: 'selected'; readonly optionId: string } | { readonly outcome: 'cancelled' };

export const PERMISSION_CANCELLED: PermissionOutcome = { outcome: 'cancelled' };

const ALLOWED_KINDS: Readonly<Record<PermissionPolicy, readonly PermissionKind[]>> = {
  reject: [],
  allow: ['allow_once'],
  'allow-always': ['allow_always', 'allow_once'],
};

/** The outcome of a question by a policy. */
export function choosePermission(policy: PermissionPolicy, options: readonly PermissionOption[]): PermissionOutcome {
  for (const kind of ALLOWED_KINDS[policy]) {
    const [option, ...others] = ofKind(options, kind);
    if (option !== undefined && others.length === 0) return selected(option.id, options) ?? refusal(options);
  }
  return refusal(options);
}

/** The outcome of a question by an answer. An option that was not offered is a refusal. */
export function outcomeOf(answer: PermissionAnswer, options: readonly PermissionOption[]): PermissionOutcome {
  if (answer === 'cancel') return PERMISSION_CANCELLED;
  if (typeof answer === 'string') return choosePermission(answer, options);
  return selected(answer.optionId, options) ?? refusal(options);
}

/**
 * With several options of one kind the child wants one chosen, and which is not for a policy to guess: they are passed
 * over when something is to be allowed. Several that refuse this once are not answered by the one that refuses for
 * ever, which would be more than was asked: they are answered with "cancelled".
 */
function refusal(options: readonly PermissionOption[]): PermissionOutcome {
  const once = ofKind(options, 'reject_once');
  const candidates = once.length > 0 ? once : ofKind(options, 'reject_always');
  const [option, ...others] = candidates;
  if (option === undefined || others.length > 0) return PERMISSION_CANCELLED;
  return selected(option.id, options) ?? PERMISSION_CANCELLED;
}

function ofKind(options: readonly PermissionOption[], kind: PermissionKind): readonly PermissionOption[] {
  return options.filter((option) => option.kind === kind);
}

/** An id that stands for two options says nothing: the child might take a refusal for its opposite. */
function selected(optionId: string, options: readonly PermissionOption[]): PermissionOutcome | undefined {
  const meant = options.filter(({ id }) => id === optionId);
  return meant.length === 1 ? { outcome: 'selected', optionId } : undefined;
}
