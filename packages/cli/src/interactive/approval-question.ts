import type { ApprovalAnswer, ApprovalRequest } from '../agent/approvals.js';
import { type Block, gap, line, text } from '../ui/block.js';
import { fullArguments } from '../ui/describe-call.js';
import { neutraliseLine } from '../ui/neutralise.js';
import type { Question } from './questions.js';

const MAX_SHOWN_LINES = 200;

const ANSWERS: Readonly<Record<string, ApprovalAnswer>> = {
  '': 'no',
  n: 'no',
  no: 'no',
  y: 'yes',
  yes: 'yes',
  a: 'always',
  always: 'always',
  v: 'never',
  never: 'never',
};

const OUTCOMES: Readonly<Record<ApprovalAnswer, string>> = {
  yes: 'allowed',
  no: 'denied',
  always: 'allowed, and from now on',
  never: 'denied, and from now on',
};

/** What a call would do, in full: nobody can decide about what is cut off. */
export function renderRequest(request: ApprovalRequest): Block[] {
  const rows = fullArguments(request.arguments).replaceAll('\t', '    ').split('\n');
  const hidden = rows.length - MAX_SHOWN_LINES;
  return [
    gap,
    line(
      { text: '? ', tone: 'warn' },
      { text: neutraliseLine(request.toolName), tone: 'bold' },
      { text: ' asks to run' },
    ),
    ...(rows[0] === '' ? [] : [text(rows.slice(0, MAX_SHOWN_LINES).join('\n'), 'plain', 2)]),
    ...(hidden > 0 ? [text(`… ${hidden} more lines are NOT shown`, 'bad', 2)] : []),
  ];
}

/** Asks whether a call may run. It takes a word and Enter: a key that was meant for the input line decides nothing. */
export function approvalQuestion(request: Pick<ApprovalRequest, 'toolName'>): Question<ApprovalAnswer> {
  const name = neutraliseLine(request.toolName);
  return {
    prompt: `allow? y = yes, N = no, a = always ${name}, v = never ${name}: `,
    hint: 'answer y, n, a or v, then Enter; Enter alone means no',
    parse: (answer) => (Object.hasOwn(ANSWERS, answer) ? ANSWERS[answer] : undefined),
    otherwise: 'no',
  };
}

export function renderDecision(answer: ApprovalAnswer): Block[] {
  const isYes = answer === 'yes' || answer === 'always';
  return [text(OUTCOMES[answer], isYes ? 'good' : 'warn', 2)];
}
