import type { AssistantMessage, Message } from '../messages.js';
import type { CompactionPreparation, CompactionRequest } from './compaction-types.js';
import { headOf, shorten } from './cut-text.js';

interface Entry {
  readonly head: string;
  readonly text: string;
}

const TASK_GOES_ON: Entry = {
  head: '[note]',
  text: 'The work on the last task of the user goes on after these messages: state that task in full.',
};
// The message that is carried along may be a later remark of the user, so that the task itself must still be stated.
const TASK_STAYS: Entry = {
  head: '[note]',
  text:
    'The work on the last task of the user goes on after these messages. The agent keeps the last message of the user ' +
    'word for word: state in full whatever else belongs to that task.',
};

const MAX_ID_CHARS = 80;
/** Room that an entry takes besides its text: its heading, and the note of what was left out. */
const ENTRY_OVERHEAD_CHARS = 240;

/**
 * What a compaction replaces, as text: the earlier summary, then each message under a heading with its role. A task that
 * is carried along is shown at its place: what was done for it would be hard to understand without it. At most
 * `maxChars` characters: the longest texts are shortened first, and if there are too many messages those in the middle
 * are left out.
 */
export function renderTranscript(request: CompactionRequest, maxChars: number): string {
  const { previousSummary, preparation } = request;
  const entries = shownMessages(preparation).flatMap(entriesOf);
  const parts: Entry[] = [];
  if (previousSummary !== null) parts.push({ head: '[earlier summary]', text: previousSummary.content });
  parts.push(...withoutMiddle(entries, Math.max(2, Math.floor(maxChars / (2 * ENTRY_OVERHEAD_CHARS)))));
  if (preparation.insideTurn) parts.push(preparation.carriedIndex === null ? TASK_GOES_ON : TASK_STAYS);
  const overhead = parts.length * ENTRY_OVERHEAD_CHARS;
  const longest = levelFor(
    parts.map(({ text }) => text.length),
    maxChars - overhead,
  );
  const rendered = parts.map(({ head, text }) => `${head}\n${shorten(text, longest)}`).join('\n\n');
  return headOf(rendered, maxChars);
}

function shownMessages(preparation: CompactionPreparation): readonly Message[] {
  const { messagesToSummarize, messagesToKeep, historyStart, carriedIndex } = preparation;
  if (carriedIndex === null) return messagesToSummarize;
  return messagesToSummarize.toSpliced(carriedIndex - historyStart, 0, ...messagesToKeep.slice(0, 1));
}

function entriesOf(message: Message): readonly Entry[] {
  if (message.role === 'assistant') return assistantEntries(message);
  const head =
    message.role === 'tool' ? `[result of call ${headOf(message.toolCallId, MAX_ID_CHARS)}]` : `[${message.role}]`;
  return [{ head, text: message.content }];
}

function assistantEntries({ content, toolCalls }: AssistantMessage): readonly Entry[] {
  const said = content === null || content === '' ? [] : [{ head: '[assistant]', text: content }];
  const calls = toolCalls.map(({ id, name, arguments: text }) => ({
    head: `[assistant calls ${headOf(name, MAX_ID_CHARS)}, call ${headOf(id, MAX_ID_CHARS)}]`,
    text,
  }));
  return [...said, ...calls];
}

/** The beginning has the task and the end what is going on: most is left of the end. */
function withoutMiddle(entries: readonly Entry[], most: number): readonly Entry[] {
  if (entries.length <= most) return entries;
  const first = Math.floor(most / 4);
  const last = most - first - 1;
  const left = entries.length - first - last;
  const note = { head: '[note]', text: `${left} entries are left out here.` };
  return [...entries.slice(0, first), note, ...entries.slice(-last)];
}

/** The length to which texts must be shortened so that together they have no more than `budget` characters. */
function levelFor(lengths: readonly number[], budget: number): number {
  let rest = Math.max(0, budget);
  const ascending = lengths.toSorted((a, b) => a - b);
  for (const [index, length] of ascending.entries()) {
    const share = Math.floor(rest / (ascending.length - index));
    if (length > share) return share;
    rest -= length;
  }
  return Number.POSITIVE_INFINITY;
}
