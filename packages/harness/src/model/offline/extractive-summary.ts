import type { ModelRequest } from '../model-adapter.js';

const MAX_LINES = 40;
const MAX_LINE = 200;

/** A request without tools whose system message asks for a summary, as compaction sends it. */
export function asksForSummary({ messages, tools }: ModelRequest): boolean {
  return (
    tools.length === 0 && messages.some((message) => message.role === 'system' && /\bsummar/iu.test(message.content))
  );
}

/** The beginnings of the first and the last lines of what was said: nothing is added, the middle may be left out. */
export function summarize({ messages }: ModelRequest): string {
  const lines = messages
    .filter(({ role }) => role !== 'system')
    .flatMap(({ content }) => (content ?? '').split('\n'))
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (lines.length === 0) return 'Nothing was said.';
  const left = lines.length - MAX_LINES;
  if (left <= 0) return lines.map(shorten).join('\n');
  const half = MAX_LINES / 2;
  return [...lines.slice(0, half).map(shorten), `… (${left} lines left out)`, ...lines.slice(-half).map(shorten)].join(
    '\n',
  );
}

function shorten(line: string): string {
  return line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE - 1)}…`;
}
