import { emptyHistory, type InputHistory, remember, stepThrough } from './input-history.js';
import type { Key, KeyName } from './keys.js';
import { graphemes } from './text-width.js';

/** A line being written; it may have several rows. Never changed, only replaced. */
export interface EditorState {
  readonly text: string;
  /** Offset in `text`, always between two graphemes. */
  readonly cursor: number;
  readonly history: InputHistory;
  /** What was cut last; `yank` puts it back. */
  readonly cut: string;
}

export type EditorAction =
  | { readonly type: 'submit'; readonly text: string }
  | { readonly type: 'complete' | 'escape' | 'interrupt' | 'end-of-input' | 'clear-screen' | 'suspend' };

export interface EditorStep {
  readonly state: EditorState;
  /** What the program has to do; undefined if only the line changed. */
  readonly action?: EditorAction;
}

export const emptyEditor: EditorState = { text: '', cursor: 0, history: emptyHistory, cut: '' };

/** A longer line takes no more text. */
const MAX_TEXT_CHARS = 200_000;
/** All of C0 but newline and tab, DEL and C1: what is pasted cannot hold keys. */
const NOT_TEXT = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** What a key does to the line. */
export function edit(state: EditorState, key: Key): EditorStep {
  if (key.type === 'text') return { state: insert(state, key.text.replace(NOT_TEXT, '')) };
  if (key.type === 'paste') return { state: insert(state, key.text.replace(/\r\n?/g, '\n').replace(NOT_TEXT, '')) };
  return KEYS[key.name](state);
}

/** Replaces the line and puts the cursor at its end. */
export function withText(state: EditorState, text: string): EditorState {
  return { ...state, text, cursor: text.length };
}

/** Puts a line into the history without showing it. */
export function withRemembered(state: EditorState, line: string): EditorState {
  return line.trim() === '' ? state : { ...state, history: remember(state.history, line) };
}

const only =
  (change: (state: EditorState) => EditorState): ((state: EditorState) => EditorStep) =>
  (state) => ({ state: change(state) });

const asks =
  (type: Exclude<EditorAction['type'], 'submit'>): ((state: EditorState) => EditorStep) =>
  (state) => ({ state, action: { type } });

const KEYS: Readonly<Record<KeyName, (state: EditorState) => EditorStep>> = {
  enter: submit,
  newline: only((state) => insert(state, '\n')),
  backspace: only((state) => removeTo(state, before(state))),
  delete: only((state) => removeTo(state, after(state))),
  left: only((state) => moveTo(state, before(state))),
  right: only((state) => moveTo(state, after(state))),
  up: only((state) => moveRow(state, -1)),
  down: only((state) => moveRow(state, 1)),
  home: only((state) => moveTo(state, rowStart(state))),
  end: only((state) => moveTo(state, rowEnd(state))),
  'word-left': only((state) => moveTo(state, wordStart(state))),
  'word-right': only((state) => moveTo(state, wordEnd(state))),
  'kill-line-end': only((state) => cutTo(state, rowEnd(state) === state.cursor ? after(state) : rowEnd(state))),
  'kill-line-start': only((state) => cutTo(state, rowStart(state))),
  'kill-word-left': only((state) => cutTo(state, wordStart(state))),
  'kill-word-right': only((state) => cutTo(state, wordEnd(state))),
  yank: only((state) => insert(state, state.cut)),
  tab: asks('complete'),
  escape: asks('escape'),
  interrupt: asks('interrupt'),
  'end-of-input': (state) =>
    state.text === '' ? { state, action: { type: 'end-of-input' } } : { state: removeTo(state, after(state)) },
  'clear-screen': asks('clear-screen'),
  suspend: asks('suspend'),
};

/** A line that ends in a backslash goes on in the next row. */
function submit(state: EditorState): EditorStep {
  const { text } = state;
  if (text.endsWith('\\') && state.cursor === text.length) {
    return { state: withText(state, `${text.slice(0, -1)}\n`) };
  }
  return { state: { ...withRemembered(state, text), text: '', cursor: 0 }, action: { type: 'submit', text } };
}

function insert(state: EditorState, added: string): EditorState {
  const room = Math.max(0, MAX_TEXT_CHARS - state.text.length);
  const fitting = added.slice(0, room);
  const text = state.text.slice(0, state.cursor) + fitting + state.text.slice(state.cursor);
  return { ...state, text, cursor: state.cursor + fitting.length };
}

function moveTo(state: EditorState, cursor: number): EditorState {
  return { ...state, cursor };
}

function removeTo(state: EditorState, other: number): EditorState {
  const start = Math.min(state.cursor, other);
  const end = Math.max(state.cursor, other);
  return { ...state, text: state.text.slice(0, start) + state.text.slice(end), cursor: start };
}

function cutTo(state: EditorState, other: number): EditorState {
  const cut = state.text.slice(Math.min(state.cursor, other), Math.max(state.cursor, other));
  return { ...removeTo(state, other), cut: cut === '' ? state.cut : cut };
}

function before(state: EditorState): number {
  const previous = graphemes(state.text.slice(rowStart(state), state.cursor)).at(-1);
  return Math.max(0, state.cursor - (previous?.length ?? 1));
}

function after(state: EditorState): number {
  const next = graphemes(state.text.slice(state.cursor, rowEnd(state)))[0];
  return Math.min(state.text.length, state.cursor + (next?.length ?? 1));
}

function rowStart({ text, cursor }: EditorState): number {
  return cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1;
}

function rowEnd({ text, cursor }: EditorState): number {
  const end = text.indexOf('\n', cursor);
  return end === -1 ? text.length : end;
}

function wordStart({ text, cursor }: EditorState): number {
  return cursor - (/\S*\s*$/u.exec(text.slice(0, cursor))?.[0].length ?? 0);
}

function wordEnd({ text, cursor }: EditorState): number {
  return cursor + (/^\s*\S*/u.exec(text.slice(cursor))?.[0].length ?? 0);
}

/** Between the rows of the line, and from its first and last row into the history. */
function moveRow(state: EditorState, by: -1 | 1): EditorState {
  const column = graphemes(state.text.slice(rowStart(state), state.cursor)).length;
  const target = by === -1 ? rowStart(state) - 1 : rowEnd(state) + 1;
  if (target < 0 || target > state.text.length) return moveThroughHistory(state, by);
  const row = moveTo(state, target);
  const start = rowStart(row);
  const inRow = graphemes(row.text.slice(start, rowEnd(row))).slice(0, column);
  return moveTo(state, start + inRow.join('').length);
}

function moveThroughHistory(state: EditorState, by: -1 | 1): EditorState {
  const step = stepThrough(state.history, by, state.text);
  return step === undefined ? state : { ...withText(state, step.text), history: step.history };
}
