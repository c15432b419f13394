import type { Activity, RunningTool } from '../ui/activity.js';
import { shortArguments } from '../ui/describe-call.js';
import { layOutInput } from '../ui/input-layout.js';
import type { EditorState } from '../ui/line-editor.js';
import { neutraliseLine } from '../ui/neutralise.js';
import { duration } from '../ui/numbers.js';
import type { LiveRows } from '../ui/screen.js';
import type { Line, Span } from '../ui/style.js';
import type { OpenQuestion } from './questions.js';

export interface ShellState {
  readonly activity: Activity;
  readonly editor: EditorState;
  readonly question: OpenQuestion | undefined;
  /** Something that concerns the moment, such as what a second Ctrl-C would do. */
  readonly notice: string | undefined;
  readonly isAborting: boolean;
}

const PROMPT = '> ';
const MAX_TOOLS = 4;
const MAX_QUEUED = 3;
const MAX_INPUT_ROWS = 10;

/** The rows below the output: running tools, waiting texts, what is going on, and the input line. */
export function layOutLive(state: ShellState, now: number, columns: number, maxRows: number): LiveRows {
  const { question } = state;
  const inputRows = Math.max(1, Math.min(MAX_INPUT_ROWS, maxRows - 1));
  const input = layOutInput(question?.editor ?? state.editor, question?.prompt ?? PROMPT, columns, inputRows);
  const above = linesAbove(state, now);
  // In a low window the input line is what must be seen.
  const shown = above.slice(Math.max(0, above.length - Math.max(0, maxRows - input.rows.length)));
  return {
    rows: [...shown, ...input.rows.map((row): Line => [{ text: row }])],
    cursorRow: shown.length + input.cursorRow,
    cursorColumn: input.cursorColumn,
  };
}

function linesAbove(state: ShellState, now: number): Line[] {
  const { activity, question, notice } = state;
  const lines = [
    ...activity.tools.slice(-MAX_TOOLS).map((tool) => toolLine(tool, now)),
    ...activity.queued.slice(-MAX_QUEUED).map(({ content }) => [dim(`queued: ${neutraliseLine(content)}`)]),
  ];
  const status = statusOf(state, now);
  if (status !== undefined) lines.push([status]);
  if (question?.isAskedAgain === true) lines.push([{ text: question.hint, tone: 'warn' }]);
  if (notice !== undefined) lines.push([{ text: notice, tone: 'warn' }]);
  return lines;
}

function toolLine({ call, since, progress }: RunningTool, now: number): Line {
  return [
    { text: '◌ ', tone: 'accent' },
    { text: neutraliseLine(call.name), tone: 'bold' },
    dim(` ${duration(now - since)}`),
    { text: `  ${shortArguments(call)}` },
    ...(progress === undefined ? [] : [dim(`  ${neutraliseLine(progress)}`)]),
  ];
}

function statusOf({ activity, question, isAborting }: ShellState, now: number): Span | undefined {
  if (question !== undefined) return undefined;
  if (isAborting) return { text: '● stopping', tone: 'warn' };
  if (activity.isCompacting) return dim('● compacting the context · Ctrl-C stops');
  if (!activity.isRunning) return undefined;
  return dim(`● working ${duration(now - activity.since)} · Enter steers · Ctrl-C stops`);
}

function dim(text: string): Span {
  return { text, tone: 'dim' };
}
