import type { MadeCall } from './open-request.js';
import type { PlanNote } from './plan.js';
import { failureIn } from './tool-failure.js';

const INTRODUCTION =
  'No language model is configured: this answer comes from the built-in offline model, which only calls tools by rules.';

/** Characters of one result, and of a step, that an answer quotes. */
const MAX_QUOTED = 1_200;
const MAX_STEP = 120;
/** Results that an answer quotes, and tools that it names. */
const MAX_LISTED = 20;

/** The answer of the offline model: what the tools gave, and what could not be done and why. */
export function composeAnswer(
  made: readonly MadeCall[],
  notes: readonly PlanNote[],
  toolNames: readonly string[],
): string {
  const parts = [INTRODUCTION];
  parts.push(...made.slice(0, MAX_LISTED).map(describeCall));
  if (made.length > MAX_LISTED) parts.push(`(${made.length - MAX_LISTED} more results are not shown.)`);
  parts.push(...notes.map(describeNote));
  if (made.length === 0) parts.push(describeTools(toolNames));
  return parts.join('\n\n');
}

function describeCall({ call, result }: MadeCall): string {
  if (result === undefined) return `\`${call.name}\` gave no result.`;
  const failure = failureIn(result);
  if (failure !== undefined) return `\`${call.name}\` failed: ${cut(failure, MAX_QUOTED)}`;
  return result.trim() === ''
    ? `\`${call.name}\` gave an empty result.`
    : `\`${call.name}\` gave:\n${cut(result, MAX_QUOTED)}`;
}

function describeNote(note: PlanNote): string {
  switch (note.kind) {
    case 'missing_arguments':
      return `\`${note.tool}\` was not called: the request does not say ${note.names.map((name) => `\`${name}\``).join(', ')}.`;
    case 'unknown_tool':
      return `There is no tool named \`${cut(note.tool, MAX_STEP)}\`.`;
    case 'no_tool':
      return `No tool fits “${cut(note.step.replace(/\s+/gu, ' '), MAX_STEP)}”.`;
  }
}

function describeTools(names: readonly string[]): string {
  if (names.length === 0) return 'No tools are on offer.';
  const listed = names.slice(0, MAX_LISTED).map((name) => `\`${name}\``);
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : '';
  return `Tools on offer: ${listed.join(', ')}${more}. One can be asked for exactly with {"tool": name, "arguments": {…}}.`;
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length - limit} more characters)`;
}
