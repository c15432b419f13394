import type { ToolCall } from '../messages.js';
import { asRecord } from './as-record.js';

interface PartialCall {
  readonly index: number | undefined;
  id: string;
  name: string;
  readonly pieces: string[];
}

interface Piece {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/**
 * Puts tool calls together that come in pieces. Meant is one call for each `index`, with id and name in its first piece.
 * Servers differ: some say index 0 for every call, some leave out indices or ids, some repeat id and name in every
 * piece, some send a name in several.
 */
export class ToolCallAssembler {
  readonly #calls: PartialCall[] = [];

  get isEmpty(): boolean {
    return this.#calls.length === 0;
  }

  /** `raw` is one entry of `tool_calls`; whatever else it holds is left aside. */
  add(raw: unknown): void {
    const piece = readPiece(raw);
    if (piece === undefined) return;
    const call = this.#callOf(piece) ?? this.#start(piece);
    if (call.id === '') call.id = piece.id;
    if (piece.name !== call.name) call.name += piece.name;
    if (piece.args !== '') call.pieces.push(piece.args);
  }

  /**
   * The calls in the order in which they began, each with an id of its own.
   *
   * @returns undefined if one has no name.
   */
  finish(newId: () => string): readonly ToolCall[] | undefined {
    if (this.#calls.some((call) => call.name === '')) return undefined;
    const used = new Set<string>();
    return this.#calls.map((call) => {
      const id = call.id === '' || used.has(call.id) ? newId() : call.id;
      used.add(id);
      return { id, name: call.name, arguments: call.pieces.join('') };
    });
  }

  #start({ index, id }: Piece): PartialCall {
    const call: PartialCall = { index, id, name: '', pieces: [] };
    this.#calls.push(call);
    return call;
  }

  #callOf(piece: Piece): PartialCall | undefined {
    const sameIndex = this.#calls.filter((call) => call.index === piece.index);
    const newest = sameIndex.at(-1);
    if (newest === undefined) return undefined;
    if (piece.id !== '') {
      const same = sameIndex.find((call) => call.id === piece.id);
      if (same !== undefined) return same;
      return newest.id === '' && !beginsAnother(newest, piece) ? newest : undefined;
    }
    return beginsAnother(newest, piece) ? undefined : newest;
  }
}

/**
 * Whether a piece without a known id is the head of another call: a name after arguments have come, unless it repeats
 * the name while those are still incomplete.
 */
function beginsAnother(call: PartialCall, piece: Piece): boolean {
  if (piece.name === '' || call.pieces.length === 0) return false;
  return piece.name !== call.name || isJson(call.pieces.join(''));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function readPiece(raw: unknown): Piece | undefined {
  const record = asRecord(raw);
  if (record === undefined) return undefined;
  const fn = asRecord(record['function']);
  const index = record['index'];
  return {
    index: typeof index === 'number' ? index : undefined,
    id: textOf(record['id']),
    name: textOf(fn?.['name']),
    args: argumentsOf(fn?.['arguments']),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

// Some servers send the object itself instead of its text.
function argumentsOf(value: unknown): string {
  return asRecord(value) === undefined ? textOf(value) : JSON.stringify(value);
}
