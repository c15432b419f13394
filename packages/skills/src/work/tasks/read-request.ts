import type { TaskRequest } from '@parley/agent';
import { planWords } from '../offline/plan-words.js';
import { asksForWork, splitRequest, type SplitRequest } from '../offline/split-request.js';
import { nameOf } from './delegate-tool.js';
import type { Material } from './material.js';
import type { Missing } from './pending-question.js';
import type { ReadParts } from './read-parts.js';

/** Words to follow, and what to work on. */
export interface ReadRequest {
  readonly words: string;
  readonly materials: readonly Material[];
}

/** A text that comes along with files is what to do with them, unless it is long. */
const MAX_WORDS = 2_000;

/**
 * Tells the words of a request from what they are about. Without that a model would have to repeat the text that stands
 * in the message, and the offline one would translate the request too.
 *
 * @param missing what the task has asked for, if this is the answer.
 */
export function readRequest(
  request: TaskRequest,
  { texts, files }: ReadParts,
  given: {
    readonly capabilities: readonly string[];
    readonly missing: Missing | undefined;
    readonly newName: () => string;
  },
): ReadRequest {
  const [first, ...more] = texts;
  const textMaterial = (text: string, fileName?: string): Material => {
    return {
      name: given.newName(),
      text,
      mediaType: 'text/plain',
      isResult: false,
      ...(fileName === undefined ? {} : { fileName }),
    };
  };
  const rest = more.map((text) => textMaterial(text));
  if (first === undefined) return { words: '', materials: [...rest, ...files] };
  const split = given.missing === 'parameters' ? undefined : splitFor(request, first, given.capabilities);
  if (split !== undefined) {
    const { words, content, fence } = split;
    const fileName = fence === undefined ? undefined : `snippet.${fence}`;
    return { words, materials: [textMaterial(content, fileName), ...rest, ...files] };
  }
  if (isRequest(first, request, rest.length + files.length, given))
    return { words: first, materials: [...rest, ...files] };
  return { words: '', materials: [textMaterial(first), ...rest, ...files] };
}

/**
 * Under an agreement everything about the work is agreed on: a text is what to do it with, and nothing of it is taken
 * for a request. With a capability that was only asked for, the words have to be about that one.
 */
function splitFor(
  { agreement, capability }: TaskRequest,
  text: string,
  capabilities: readonly string[],
): SplitRequest | undefined {
  if (agreement !== undefined) return undefined;
  const split = splitRequest(text, capabilities);
  if (split === undefined || capability === undefined) return split;
  const isMeant = planWords(split.words, capabilities).some((step) => step.capability === nameOf(capability));
  return isMeant ? split : undefined;
}

function isRequest(
  text: string,
  { capability, isFollowUp }: TaskRequest,
  others: number,
  { capabilities, missing }: { readonly capabilities: readonly string[]; readonly missing: Missing | undefined },
): boolean {
  if (missing === 'text') return others > 0 && text.length <= MAX_WORDS;
  if (missing !== undefined) return text.length <= MAX_WORDS;
  if (others > 0 && text.length <= MAX_WORDS) return true;
  // With the capability agreed on, a text alone is what to do it with: “the review was good” asks for nothing.
  if (capability !== undefined && !isFollowUp) return false;
  return asksForWork(text, capabilities);
}
