/** What a piece of text is, not how it looks. */
export type Tone = 'plain' | 'dim' | 'bold' | 'accent' | 'good' | 'bad' | 'warn';

const CODES: Readonly<Record<Tone, readonly [number, number] | undefined>> = {
  plain: undefined,
  dim: [2, 22],
  bold: [1, 22],
  accent: [36, 39],
  good: [32, 39],
  bad: [31, 39],
  warn: [33, 39],
};

export interface Span {
  readonly text: string;
  readonly tone?: Tone;
}

/** One line of output. */
export type Line = readonly Span[];

/** Gives a text its look. */
export type Paint = (text: string, tone: Tone | undefined) => string;

/** Every text as it is. */
export const plainPaint: Paint = (text) => text;

export const colourPaint: Paint = (text, tone) => {
  const codes = CODES[tone ?? 'plain'];
  if (codes === undefined || text === '') return text;
  return `\u001b[${codes[0]}m${text}\u001b[${codes[1]}m`;
};

/** Colours only for a terminal that can, and only if NO_COLOR does not forbid them. */
export function choosePaint(isTty: boolean, env: Readonly<Record<string, string | undefined>>): Paint {
  const forbidden = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  return isTty && !forbidden ? colourPaint : plainPaint;
}
