import type { JsonValue } from '../../json.js';
import type { ToolDefinition } from '../../tools/tool-definition.js';
import type { RequestStep } from './request-step.js';
import { kindOf, parametersOf, type ToolParameter } from './tool-parameters.js';
import { sameWord, wordsOf } from './words.js';

/** Arguments for a tool, or the names of those that the step does not give. */
export interface FilledArguments {
  readonly values: Readonly<Record<string, JsonValue>>;
  readonly missing: readonly string[];
}

/** Words that stand for what a step before has given. */
const REFERENCE = /\b(?:it|its|that|this|them|these|those|result|results|output|answer|content|contents|list)\b/iu;

/** Fills the parameters of a tool from the text of a step; what cannot be found is missing, never guessed. */
export function fillArguments(
  tool: ToolDefinition,
  step: RequestStep,
  earlierResult: string | undefined,
): FilledArguments {
  const filler = new ArgumentFiller(tool, step);
  const parameters = parametersOf(tool);
  const values = new Map<string, JsonValue>();
  for (const parameter of parameters) {
    const value = filler.find(parameter);
    if (value !== undefined) values.set(parameter.name, value);
  }
  const missing: string[] = [];
  for (const parameter of parameters.filter(({ name, required }) => required && !values.has(name))) {
    const value = isText(parameter) ? filler.rest(parameters, [...values.values()], earlierResult) : undefined;
    if (value === undefined) missing.push(parameter.name);
    else values.set(parameter.name, value);
  }
  // A parameter may have any name, `__proto__` too.
  const inOrder = parameters.flatMap(({ name }) =>
    values.has(name) ? [[name, values.get(name) ?? null] as const] : [],
  );
  return { values: Object.fromEntries(inOrder), missing };
}

function isText(parameter: ToolParameter): boolean {
  return ['text', 'command'].includes(kindOf(parameter));
}

/** Takes each part of a step for one parameter only. */
class ArgumentFiller {
  readonly #tool: ToolDefinition;
  readonly #step: RequestStep;
  readonly #quotations: string[];
  readonly #files: string[];
  readonly #urls: string[];
  readonly #numbers: number[];

  constructor(tool: ToolDefinition, step: RequestStep) {
    this.#tool = tool;
    this.#step = step;
    this.#files = [...step.files];
    // A quoted name of a file is a name of a file, unless the tool takes none.
    const takesFiles = parametersOf(tool).some((parameter) => kindOf(parameter) === 'path');
    this.#quotations = step.quotations.filter((quoted) => !takesFiles || !step.files.includes(quoted));
    this.#urls = [...step.urls];
    this.#numbers = [...step.numbers];
  }

  find(parameter: ToolParameter): JsonValue | undefined {
    const { name, required } = parameter;
    switch (kindOf(parameter)) {
      case 'enum':
        return parameter.options.find((option) => this.#says(option));
      case 'boolean':
        return this.#flag(name);
      case 'number':
        return this.#number(parameter);
      case 'url':
        return this.#urls.shift();
      case 'path':
        return this.#files.shift() ?? this.#folder() ?? (required ? this.#quotations.shift() : undefined);
      case 'language':
        return this.#after(/\b(?:in)?to (\p{L}+)/iu) ?? (required ? this.#quotations.shift() : undefined);
      case 'command':
        return (
          this.#quotations.shift() ??
          this.#after(/\b(?:run|execute|command)\b:? +(?:the (?:shell )?command:? +)?(.+)$/isu)
        );
      case 'text':
        return this.#named(name) ?? this.#text(name, required);
      case 'list':
        return this.#list(name);
      case 'other':
        return undefined;
    }
  }

  /** What is left for a text that nothing was found for: the result before, if the step points at it, else its words. */
  rest(
    parameters: readonly ToolParameter[],
    values: readonly JsonValue[],
    earlierResult: string | undefined,
  ): string | undefined {
    if (earlierResult !== undefined && REFERENCE.test(this.#step.unquoted)) return earlierResult;
    // Beside other text it would be a guess which is which, and words beside a file are about a text, not the text.
    const kinds = parameters.filter(({ required }) => required).map(kindOf);
    if (kinds.includes('path') || kinds.filter((kind) => kind === 'text').length !== 1) return undefined;
    const afterVerb = this.#afterVerb();
    const used = values.filter((value) => typeof value === 'string');
    const text = used.reduce(
      (left, value) => left.replace(new RegExp(`\\b(?:in|to|into|at|as|of) ${escape(value)}`, 'iu'), ''),
      afterVerb,
    );
    const without = used
      .reduce((left, value) => left.replace(value, ''), text)
      .replace(/\s+/gu, ' ')
      .trim();
    const meaningful = wordsOf(without).some(
      (word) => !wordsOf(this.#tool.name).some((named) => sameWord(named, word)),
    );
    return meaningful && !/^(?:it|this|that|to|in|into)$/iu.test(without) ? without : undefined;
  }

  /** The step without the words before and with the first that the tool's name has. */
  #afterVerb(): string {
    const { text } = this.#step;
    const named = wordsOf(this.#tool.name);
    const verb = text
      .split(' ')
      .findIndex((word) => wordsOf(word).some((one) => named.some((name) => sameWord(name, one))));
    return text
      .split(' ')
      .slice(verb + 1)
      .join(' ')
      .replace(/^(?:the (?:text|following|sentence|phrase)|this|for)?:? */iu, '');
  }

  #text(name: string, required: boolean): string | undefined {
    if (!required && this.#quotations.length === 0) return undefined;
    const quoted = this.#quotations.shift();
    if (quoted !== undefined) return quoted;
    if (/query|pattern|search|term|keyword/iu.test(name)) {
      return this.#after(/\bfor (?:the (?:word|text|term) )?([^\s,]+)/iu);
    }
    return this.#after(/: +(\S.*)$/su);
  }

  /** `limit=5`, `name: value`. */
  #named(name: string): string | undefined {
    return this.#after(new RegExp(`\\b${escape(name)} ?[=:] ?([^\\s,;]+)`, 'iu'));
  }

  #number({ name, type }: ToolParameter): number | undefined {
    const near = Number(
      this.#after(
        new RegExp(`\\b${escape(name.replaceAll('_', ' '))} ?(?:[=:]|is|of|to)? ?(-?\\d+(?:\\.\\d+)?)`, 'iu'),
      ) ?? Number.NaN,
    );
    const at = this.#numbers.findIndex(
      (number) => (Number.isNaN(near) || number === near) && (type !== 'integer' || Number.isInteger(number)),
    );
    return at === -1 ? undefined : this.#numbers.splice(at, 1)[0];
  }

  #flag(name: string): boolean | undefined {
    const words = wordsOf(name);
    if (words.length === 0 || !words.every((word) => this.#step.words.some((said) => sameWord(said, word))))
      return undefined;
    return !new RegExp(`\\b(?:not|no|without|don't|never) (?:\\w+ )?${escape(words[0] ?? name)}`, 'iu').test(
      this.#step.unquoted,
    );
  }

  #folder(): string | undefined {
    if (/\b(?:here|(?:current|this|working) (?:folder|directory))\b/iu.test(this.#step.unquoted)) return '.';
    const named = this.#after(/\b(?:folder|directory) (?!for\b|and\b|of\b|in\b)([\w.-]+)/iu);
    return named ?? this.#after(/\b(?:in|under|inside|of) (?:the )?([\w.-]+) (?:folder|directory)\b/iu);
  }

  #list(name: string): readonly string[] | undefined {
    const all = /path|file/iu.test(name) ? this.#files.splice(0) : this.#quotations.splice(0);
    return all.length === 0 ? undefined : all;
  }

  #says(option: string): boolean {
    return new RegExp(`(?<![\\w-])${escape(option)}(?![\\w-])`, 'iu').test(this.#step.text);
  }

  #after(pattern: RegExp): string | undefined {
    const found = pattern.exec(this.#step.unquoted)?.[1]?.trim();
    return found === undefined || found === '' ? undefined : found;
  }
}

function escape(text: string): string {
  return text.replace(/[$()*+./?[\\\]^{|}]/gu, '\\$&');
}
