import { choosePermission, outcomeOf, PERMISSION_CANCELLED, type PermissionPolicy } from './permission-policy.js';
import { PERMISSION_KINDS, type PermissionKind, type PermissionOption } from './permission-question.js';

const offer = (...kinds: (PermissionKind | undefined)[]): PermissionOption[] =>
  kinds.map((kind, place) => ({ id: `${kind ?? 'new'}-${place}`, name: '', kind }));

/** The chosen id, or `cancelled`. */
function chosen(policy: PermissionPolicy, ...kinds: (PermissionKind | undefined)[]): string {
  const outcome = choosePermission(policy, offer(...kinds));
  return outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome;
}

describe('a policy for permissions', () => {
  it('rejects once, else always, and only then cancels the turn', () => {
    expect(chosen('reject', ...PERMISSION_KINDS)).toBe('reject_once-2');
    expect(chosen('reject', 'allow_once', 'reject_always')).toBe('reject_always-1');
    expect(chosen('reject', 'allow_once', 'allow_always')).toBe('cancelled');
    expect(chosen('reject')).toBe('cancelled');
  });

  it('allows once, and never for ever', () => {
    expect(chosen('allow', 'reject_once', 'allow_always', 'allow_once')).toBe('allow_once-2');
    expect(chosen('allow', 'allow_always', 'reject_once')).toBe('reject_once-1');
    expect(chosen('allow', 'allow_always')).toBe('cancelled');
  });

  it('allows for ever only under its own name', () => {
    expect(chosen('allow-always', ...PERMISSION_KINDS)).toBe('allow_always-1');
    expect(chosen('allow-always', 'allow_once', 'reject_once')).toBe('allow_once-0');
    expect(chosen('allow-always', 'reject_always')).toBe('reject_always-0');
  });

  it('does not guess among several options of one kind', () => {
    expect(chosen('allow', 'allow_once', 'allow_once', 'reject_once')).toBe('reject_once-2');
    expect(chosen('allow', 'allow_once', 'allow_once')).toBe('cancelled');
    expect(chosen('allow-always', 'allow_always', 'allow_always', 'allow_once')).toBe('allow_once-2');
    expect(chosen('reject', 'reject_once', 'reject_once')).toBe('cancelled');
    expect(chosen('reject', 'reject_always', 'reject_always')).toBe('cancelled');
  });

  it('does not refuse for ever since there are several ways to refuse once', () => {
    expect(chosen('reject', 'reject_once', 'reject_once', 'reject_always')).toBe('cancelled');
  });

  it('never chooses an option of a kind that it does not know', () => {
    expect(chosen('allow-always', undefined)).toBe('cancelled');
    expect(chosen('reject', undefined, 'reject_once')).toBe('reject_once-1');
  });

  it.each(['reject', 'allow', 'allow-always'] as const)(
    '%s: never chooses an id that stands for two options',
    (policy) => {
      const options: PermissionOption[] = [
        { id: 'x', name: 'Yes', kind: 'allow_once' },
        { id: 'x', name: 'No', kind: 'reject_once' },
        { id: 'y', name: 'Always', kind: 'allow_always' },
        { id: 'y', name: 'Never', kind: 'reject_always' },
      ];
      expect(choosePermission(policy, options)).toEqual(PERMISSION_CANCELLED);
    },
  );
});

describe('an answer to a question', () => {
  const options = offer(...PERMISSION_KINDS);

  it('may be a policy, an end of the turn, or one of the options', () => {
    expect(outcomeOf('allow', options)).toEqual({ outcome: 'selected', optionId: 'allow_once-0' });
    expect(outcomeOf('cancel', options)).toEqual(PERMISSION_CANCELLED);
    expect(outcomeOf({ optionId: 'allow_always-1' }, options)).toEqual({
      outcome: 'selected',
      optionId: 'allow_always-1',
    });
  });

  it('is a refusal if it names an option that was not offered', () => {
    expect(outcomeOf({ optionId: 'allow' }, options)).toEqual({ outcome: 'selected', optionId: 'reject_once-2' });
  });
});
