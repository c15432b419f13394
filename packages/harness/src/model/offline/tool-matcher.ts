import type { ToolDefinition } from '../../tools/tool-definition.js';
import type { RequestStep } from './request-step.js';
import { hasRequiredText, kindOf, parametersOf } from './tool-parameters.js';
import { sameWord, wordsOf } from './words.js';

const NAME_WEIGHT = 3;
const DESCRIPTION_WEIGHT = 1;
/** What the presence of a fitting argument adds. */
const ARGUMENT_WEIGHT = 1;
/** Either a word of a name that one or two tools have with an argument that fits, or several of a description. */
const THRESHOLD = 2;

interface KnownTool {
  readonly tool: ToolDefinition;
  readonly nameWords: readonly string[];
  readonly descriptionWords: readonly string[];
}

/** Finds the tool that a step is about, by the words that name and description share with it. */
export class ToolMatcher {
  readonly #known: readonly KnownTool[];

  constructor(tools: readonly ToolDefinition[]) {
    this.#known = tools.map((tool) => {
      const nameWords = wordsOf(tool.name.replaceAll(/[_-]+/gu, ' '));
      const descriptionWords = wordsOf(tool.description.slice(0, 2_000)).filter((word) => !nameWords.includes(word));
      return { tool, nameWords, descriptionWords };
    });
  }

  /** The best tool above the threshold, the first one of equals, or undefined. */
  match(step: RequestStep): ToolDefinition | undefined {
    let best: { readonly tool: ToolDefinition; readonly score: number } | undefined;
    for (const known of this.#known) {
      const score = this.#score(known, step);
      if (score >= THRESHOLD && score > (best?.score ?? 0)) best = { tool: known.tool, score };
    }
    return best?.tool;
  }

  #score({ tool, nameWords, descriptionWords }: KnownTool, step: RequestStep): number {
    // A word that many tools have says little about which is meant.
    const weigh = (words: readonly string[], weight: number, among: (known: KnownTool) => readonly string[]): number =>
      words
        .filter((word) => step.words.some((said) => sameWord(said, word)))
        .reduce((sum, word) => sum + weight / this.#known.filter((known) => among(known).includes(word)).length, 0);
    const words =
      weigh(nameWords, NAME_WEIGHT, (known) => known.nameWords) +
      weigh(descriptionWords, DESCRIPTION_WEIGHT, (known) => known.descriptionWords);
    return words === 0 ? 0 : words + ARGUMENT_WEIGHT * fittingArguments(tool, step);
  }
}

function fittingArguments(tool: ToolDefinition, step: RequestStep): number {
  const kinds = new Set(parametersOf(tool).map(kindOf));
  const path = step.files.length > 0 && kinds.has('path');
  const url = step.urls.length > 0 && kinds.has('url');
  const text = step.quotations.length > 0 && hasRequiredText(tool);
  return [path, url, text].filter(Boolean).length;
}
