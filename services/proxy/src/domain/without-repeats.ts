import type { Fact } from './facts.js';

/**
 * The facts of one task as they took effect. A write that seemed to fail may have reached the disk all the same; what
 * was tried again then stands there twice, and only the last of the two ever changed anything.
 */
export function withoutRepeats(facts: readonly Fact[]): readonly Fact[] {
  const lastOf = new Map<string, number>();
  facts.forEach((fact, index) => {
    const key = onceKeyOf(fact);
    if (key !== undefined) lastOf.set(key, index);
  });
  return facts.filter((fact, index) => {
    const key = onceKeyOf(fact);
    return key === undefined || lastOf.get(key) === index;
  });
}

/**
 * The tasks that were accepted, of facts task by task, in order of arrival: a message that was refused, and sent again,
 * has two. While the first is known it is never made a second time.
 */
export function withoutRefused(tasks: readonly (readonly Fact[])[]): {
  readonly accepted: readonly (readonly Fact[])[];
  readonly refused: readonly (readonly Fact[])[];
} {
  const lastOf = new Map<string, readonly Fact[]>();
  for (const facts of tasks) lastOf.set(messageOf(facts), facts);
  const wasAccepted = (facts: readonly Fact[]): boolean => lastOf.get(messageOf(facts)) === facts;
  return { accepted: tasks.filter(wasAccepted), refused: tasks.filter((facts) => !wasAccepted(facts)) };
}

function messageOf([first]: readonly Fact[]): string {
  return first?.kind === 'turn_submitted' ? JSON.stringify([first.contextId, first.messageId]) : '';
}

/** What can happen only once to a task, in a text; undefined for what may happen again. */
function onceKeyOf(fact: Fact): string | undefined {
  switch (fact.kind) {
    case 'turn_opened':
    case 'turn_ending':
    case 'turn_closed':
      return fact.kind;
    case 'action_started':
    case 'action_ended':
      return `${fact.kind} ${fact.actionId}`;
    case 'recorded':
      // The next record of a turn has the span of the one that could not be written.
      return `${fact.kind} ${fact.spanId}`;
    default:
      return undefined;
  }
}
