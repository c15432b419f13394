import { languageNamed } from './language-words.js';
import type { OfferedParameter, OfferedTools } from './offered-tools.js';
import type { OpenTask } from './open-task.js';
import { planWords, type WordStep } from './plan-words.js';

/** A step with everything that the words of the task say about it. */
export interface TaskStep {
  readonly capability: string;
  readonly parameters: Readonly<Record<string, string | number | boolean>>;
  readonly alongside: boolean;
  readonly unknownLanguage?: string;
}

/** What a task asks for: its own words, or those of the follow-up if it had none; a named capability is the only step. */
export function readSteps({ messages }: OpenTask, offered: OfferedTools): TaskStep[] {
  const [first, ...later] = messages;
  const words = first.request;
  const answers = later.map(({ request }) => request).filter((text) => text !== '');
  const others = offered.own;
  const { capability } = first;
  if (capability !== undefined) {
    const said = planWords(words, others).find((step) => step.capability === capability);
    return [complete(said ?? { capability, parameters: {}, alongside: false }, words, answers, offered)];
  }
  const planned = withNamed(planWords(words, others), words, offered);
  const said = planned.length > 0 ? words : answers.join('\n');
  const steps = planned.length > 0 ? planned : withNamed(planWords(said, others), said, offered);
  return steps.map((step) => complete(step, said, answers, offered));
}

/** A capability that only others have is known if it is called by its name. */
function withNamed(steps: WordStep[], words: string, offered: OfferedTools): WordStep[] {
  if (steps.length > 0 || !offered.canDelegate) return steps;
  const name = /(?<![\w@-])[a-z]+(?:_[a-z0-9]+)+(?:@[\w.^~<>=-]+)?(?![\w]|\s*[=:]\s*\w)/u.exec(words)?.[0];
  return name === undefined ? steps : [{ capability: name, parameters: {}, alongside: false }];
}

/** Values that are written out, as in `max_sentences=2`, come before those that words suggest; answers fill gaps. */
function complete(step: WordStep, words: string, answers: readonly string[], offered: OfferedTools): TaskStep {
  const { parameters: suggested, ...rest } = step;
  const known = offered.parametersOf(step.capability);
  const isKnown = (name: string): boolean => known.some((parameter) => parameter.name === name);
  const usable = offered.isOwn(step.capability)
    ? Object.fromEntries(Object.entries(suggested).filter(([name]) => isKnown(name)))
    : suggested;
  const written = [words, ...answers].flatMap((text) => known.flatMap((parameter) => writtenOut(parameter, text)));
  const parameters: Record<string, string | number | boolean> = { ...usable, ...Object.fromEntries(written) };
  for (const parameter of known) {
    if (!parameter.isRequired || parameter.name in parameters) continue;
    const answer = answers.map((text) => answerIn(parameter, text)).findLast((value) => value !== undefined);
    if (answer !== undefined) parameters[parameter.name] = answer;
  }
  return { ...rest, parameters };
}

function writtenOut(parameter: OfferedParameter, text: string): [string, string | number | boolean][] {
  const match = new RegExp(String.raw`(?<![\w])${parameter.name}["']?\s*[=:]\s*["']?([\w.+-]+)`, 'u').exec(text);
  const value = match?.[1] === undefined ? undefined : valueOf(parameter, match[1]);
  return value === undefined ? [] : [[parameter.name, value]];
}

/** What an answer to a question about this parameter says. */
export function answerIn(parameter: OfferedParameter, text: string): string | number | boolean | undefined {
  if (parameter.name.endsWith('language')) {
    const language = languageNamed(text);
    if (language !== undefined) return valueOf(parameter, language);
  }
  const words = text.match(/[\p{L}\p{N}_.-]+/gu) ?? [];
  return words.map((word) => valueOf(parameter, word.replace(/\.$/u, ''))).find((value) => value !== undefined);
}

function valueOf({ type, values }: OfferedParameter, text: string): string | number | boolean | undefined {
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined;
  if (type === 'integer' || type === 'number') return /^[+-]?\d+(?:\.\d+)?$/u.test(text) ? Number(text) : undefined;
  if (values.length > 0) return values.find((value) => value.toLowerCase() === text.toLowerCase());
  return text;
}

/** The question about what a step needs and nobody said; undefined if it has everything. */
export function missingOf(step: TaskStep, offered: OfferedTools): string | undefined {
  const missing = offered
    .parametersOf(step.capability)
    .find(({ name, isRequired }) => isRequired && !(name in step.parameters));
  if (missing === undefined) return undefined;
  return questionFor(missing.name, step.capability, missing.values, step.unknownLanguage);
}

/** Asks for one parameter. */
export function questionFor(
  name: string,
  capability: string,
  values: readonly string[],
  unknownLanguage?: string,
): string {
  const choice = values.length > 0 ? `: ${values.join(', ')}?` : '?';
  if (unknownLanguage !== undefined)
    return `${unknownLanguage} is none of my languages. Which one shall it be${choice}`;
  if (name === 'target_language') return `Into which language shall I translate${choice}`;
  return `Which ${name} shall ${capability} have${choice}`;
}
