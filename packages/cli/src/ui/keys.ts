/** What a key means to the line editor. */
export type KeyName =
  | 'enter'
  | 'newline'
  | 'backspace'
  | 'delete'
  | 'left'
  | 'right'
  | 'up'
  | 'down'
  | 'home'
  | 'end'
  | 'word-left'
  | 'word-right'
  | 'kill-line-end'
  | 'kill-line-start'
  | 'kill-word-left'
  | 'kill-word-right'
  | 'yank'
  | 'tab'
  | 'escape'
  | 'interrupt'
  | 'end-of-input'
  | 'clear-screen'
  | 'suspend';

export type Key =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'paste'; readonly text: string }
  | { readonly type: 'key'; readonly name: KeyName };

const CONTROLS: Readonly<Record<string, KeyName>> = {
  '\r': 'enter',
  '\n': 'newline',
  '\t': 'tab',
  '\b': 'backspace',
  '\u007f': 'backspace',
  '\u0001': 'home',
  '\u0002': 'left',
  '\u0003': 'interrupt',
  '\u0004': 'end-of-input',
  '\u0005': 'end',
  '\u0006': 'right',
  '\u000b': 'kill-line-end',
  '\u000c': 'clear-screen',
  '\u000e': 'down',
  '\u0010': 'up',
  '\u0015': 'kill-line-start',
  '\u0017': 'kill-word-left',
  '\u0019': 'yank',
  '\u001a': 'suspend',
};

/** Sequences after ESC. */
const SEQUENCES: Readonly<Record<string, KeyName>> = {
  '[A': 'up',
  '[B': 'down',
  '[C': 'right',
  '[D': 'left',
  '[H': 'home',
  '[F': 'end',
  '[1~': 'home',
  '[7~': 'home',
  '[4~': 'end',
  '[8~': 'end',
  '[3~': 'delete',
  '[1;5C': 'word-right',
  '[1;3C': 'word-right',
  '[1;5D': 'word-left',
  '[1;3D': 'word-left',
  '[3;5~': 'kill-word-right',
  '[13;2u': 'newline',
  OA: 'up',
  OB: 'down',
  OC: 'right',
  OD: 'left',
  OH: 'home',
  OF: 'end',
  b: 'word-left',
  f: 'word-right',
  d: 'kill-word-right',
  '\u007f': 'kill-word-left',
  '\r': 'newline',
  '\n': 'newline',
};

const ESCAPE = '\u001b';
const PASTE_START = '\u001b[200~';
const PASTE_END = '\u001b[201~';
/** Control sequences, `ESC O x`, and ESC with one more character (Alt and a key). */
const SEQUENCE = /^\u001b(\[[0-?]*[ -/]*[@-~]|O[A-Za-z]|[^[O])/u;
/** A sequence whose end has not come yet. */
const BEGUN = /^\u001b(\[[0-?]*[ -/]*|O)?$/;
const CONTROL = /[\u0000-\u001f\u007f]/;
/** A paste that is longer is cut: the line it goes into has a bound too. */
const MAX_PASTE_CHARS = 200_000;

/** Turns what a terminal sends into keys, however it is cut into chunks. */
export class KeyDecoder {
  #rest = '';
  #paste: string | undefined;

  /**
   * What waits for more input: the start of a sequence (a lone ESC looks like that until nothing follows), or a paste
   * without its end.
   */
  get waitsFor(): 'sequence' | 'paste' | undefined {
    if (this.#paste !== undefined) return 'paste';
    return this.#rest === '' ? undefined : 'sequence';
  }

  /** Keys that are complete with this chunk. */
  push(chunk: string): Key[] {
    const keys: Key[] = [];
    this.#rest += chunk;
    while (this.#rest !== '') {
      const key = this.#paste === undefined ? this.#nextKey() : this.#readPaste();
      if (key === 'incomplete') break;
      if (key !== undefined) keys.push(key);
    }
    return keys;
  }

  /** Nothing followed: what waits is a lone ESC, a sequence that is thrown away, or a paste whose end was lost. */
  flush(): Key[] {
    const waiting = this.#rest;
    const paste = this.#paste;
    this.#rest = '';
    this.#paste = undefined;
    if (paste !== undefined) return [{ type: 'paste', text: (paste + waiting).slice(0, MAX_PASTE_CHARS) }];
    return waiting === ESCAPE ? [{ type: 'key', name: 'escape' }] : [];
  }

  #nextKey(): Key | 'incomplete' | undefined {
    const text = this.#rest;
    if (text.startsWith(PASTE_START)) {
      this.#rest = text.slice(PASTE_START.length);
      this.#paste = '';
      return undefined;
    }
    if (text.startsWith(ESCAPE)) return this.#nextSequence(text);
    const control = CONTROLS[text.charAt(0)];
    if (CONTROL.test(text.charAt(0))) {
      this.#rest = text.slice(1);
      return control === undefined ? undefined : { type: 'key', name: control };
    }
    const end = text.search(CONTROL);
    this.#rest = end === -1 ? '' : text.slice(end);
    return { type: 'text', text: end === -1 ? text : text.slice(0, end) };
  }

  #nextSequence(text: string): Key | 'incomplete' | undefined {
    if (BEGUN.test(text)) return 'incomplete';
    const sequence = SEQUENCE.exec(text)?.[1];
    this.#rest = text.slice(1 + (sequence?.length ?? 0));
    if (sequence === undefined) return undefined;
    if (sequence === ESCAPE) {
      // ESC ESC: the first is a key of its own, the second may begin something.
      this.#rest = ESCAPE + this.#rest;
      return { type: 'key', name: 'escape' };
    }
    const name = SEQUENCES[sequence];
    return name === undefined ? undefined : { type: 'key', name };
  }

  #readPaste(): Key | 'incomplete' {
    const end = this.#rest.indexOf(PASTE_END);
    if (end !== -1) {
      const text = ((this.#paste ?? '') + this.#rest.slice(0, end)).slice(0, MAX_PASTE_CHARS);
      this.#rest = this.#rest.slice(end + PASTE_END.length);
      this.#paste = undefined;
      return { type: 'paste', text };
    }
    // The end mark may be cut in two: its possible beginning stays.
    const keep = Math.max(0, this.#rest.length - PASTE_END.length + 1);
    this.#paste = ((this.#paste ?? '') + this.#rest.slice(0, keep)).slice(0, MAX_PASTE_CHARS);
    this.#rest = this.#rest.slice(keep);
    return 'incomplete';
  }
}
