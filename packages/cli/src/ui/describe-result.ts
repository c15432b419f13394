import type { ToolCallResult } from '@parley/harness';
import { parseObject } from './describe-call.js';
import { neutralise } from './neutralise.js';

export type ToolOutcome = 'ok' | 'failed' | 'denied' | 'cancelled';

const PREVIEW_LINES = 6;
/** What the preview looks at of a long result. */
const PREVIEW_CHARS = 8_000;

/** What tools of the harness and of others say in the field `status`. */
const STATUSES: Readonly<Record<string, ToolOutcome>> = {
  rejected: 'denied',
  denied: 'denied',
  cancelled: 'cancelled',
  error: 'failed',
  timed_out: 'failed',
};

/** What came of a call, in one word. */
export function outcomeOf(result: Pick<ToolCallResult, 'message' | 'cancelled' | 'error' | 'control'>): ToolOutcome {
  if (result.cancelled) return 'cancelled';
  if (result.control === 'reject') return 'denied';
  if (result.control === 'cancel') return 'cancelled';
  const data = parseObject(result.message.content);
  const status = data?.['status'];
  if (typeof status === 'string' && Object.hasOwn(STATUSES, status)) return STATUSES[status] ?? 'ok';
  return result.error !== null || exitCodeOf(data) !== 0 ? 'failed' : 'ok';
}

/** The first lines of a result, and how many more there are. */
export function previewOf(content: string): string[] {
  const whole = readable(content);
  const lines = neutralise(whole.slice(0, PREVIEW_CHARS)).trimEnd().replaceAll('\t', '    ').split('\n');
  if (lines.length === 1 && lines[0] === '') return [];
  const hidden = countLines(whole.trimEnd()) - Math.min(lines.length, PREVIEW_LINES);
  const shown = lines.slice(0, PREVIEW_LINES);
  return hidden > 0 ? [...shown, `… ${hidden} more ${hidden === 1 ? 'line' : 'lines'}`] : shown;
}

/** Fields that hold text for people, in the order in which they are shown. */
const TEXT_FIELDS = ['error', 'reason', 'output', 'stdout', 'stderr', 'content', 'text', 'note'];
/** Fields that are seen already, in the card's first line. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set(['status', 'tool', 'exit_code']);
const MAX_LISTED = 50;

/** Of a structured result the part that people read. */
function readable(content: string): string {
  const data = parseObject(content);
  if (data === undefined) return content;
  const parts = TEXT_FIELDS.map((name) => data[name])
    .filter((value) => typeof value === 'string')
    .map((value) => value.replace(/\n$/u, ''));
  const list = Object.values(data).find((value) => Array.isArray(value)) as readonly unknown[] | undefined;
  if (list !== undefined) parts.push(...list.slice(0, MAX_LISTED).map(listed));
  const exitCode = exitCodeOf(data);
  if (exitCode !== 0) parts.push(`exit code ${exitCode}`);
  const shown = parts.filter((part) => part !== '');
  return shown.length > 0 ? shown.join('\n') : fieldsOf(data);
}

function listed(item: unknown): string {
  if (typeof item === 'object' && item !== null && !Array.isArray(item))
    return Object.values(item).map(asWord).join(': ');
  return asWord(item);
}

/** Nothing but numbers and names: `path=a.txt bytes=12`. */
function fieldsOf(data: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(data).filter(([name, value]) => !KNOWN_FIELDS.has(name) && value !== '');
  return fields.map(([name, value]) => `${name}=${asWord(value)}`).join(' ');
}

function asWord(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function exitCodeOf(data: Readonly<Record<string, unknown>> | undefined): number {
  const code = data?.['exit_code'];
  return typeof code === 'number' ? code : 0;
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
