import { sessionRows } from '../sessions/render-sessions.js';
import type { SessionSummary } from '../sessions/sessions.js';
import { type Block, gap, line } from '../ui/block.js';
import type { Question } from './questions.js';

/** How many sessions are offered. */
const OFFERED = 20;

/** Numbered rows to choose from. */
export function renderChoice(sessions: readonly SessionSummary[]): Block[] {
  const rows = sessionRows(sessions.slice(0, OFFERED));
  return [
    gap,
    ...rows.map((row, at) => line({ text: `${String(at + 1).padStart(2)}  `, tone: 'accent' }, { text: row })),
  ];
}

/** Asks for one of them; the answer is null for none. */
export function choiceQuestion(sessions: readonly SessionSummary[]): Question<SessionSummary | null> {
  const count = Math.min(sessions.length, OFFERED);
  return {
    prompt: `which one (1-${count}, Enter = none)? `,
    hint: `a number from 1 to ${count}, or Enter`,
    parse: (answer) => {
      if (answer === '') return null;
      return /^\d{1,3}$/u.test(answer) ? sessions.slice(0, OFFERED)[Number(answer) - 1] : undefined;
    },
    otherwise: null,
  };
}
