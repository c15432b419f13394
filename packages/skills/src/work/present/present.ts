import { presentReview } from './present-review.js';
import { presentSummary } from './present-summary.js';
import { presentTranslation } from './present-translation.js';

/** An output as people read it. */
export interface Presented {
  /** The report: text/markdown. */
  readonly markdown: string;
  /** What the next piece of work goes on with: the deliverable alone, without marks of a report. */
  readonly text: string;
  /** One sentence of what came out. */
  readonly headline: string;
}

export type Presenter = (output: Readonly<Record<string, unknown>>) => Presented | undefined;

const PRESENTERS: ReadonlyMap<string, Presenter> = new Map([
  ['code_review', presentReview],
  ['summarize', presentSummary],
  ['translate', presentTranslation],
]);

/** The report on an output; of a capability that nobody wrote one for, or an output of another shape: its JSON. */
export function present(capability: string, output: Readonly<Record<string, unknown>>): Presented {
  return PRESENTERS.get(capability)?.(output) ?? presentJson(output);
}

function presentJson(output: Readonly<Record<string, unknown>>): Presented {
  const json = JSON.stringify(output, null, 2);
  // A fence longer than any in the text, so that nothing in it can end the block.
  const longest = (json.match(/`+/gu) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return { markdown: `${fence}json\n${json}\n${fence}`, text: json, headline: 'It is done.' };
}
