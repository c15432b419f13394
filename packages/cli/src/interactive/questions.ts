import { type EditorState, emptyEditor } from '../ui/line-editor.js';

export interface Question<T> {
  /** Stands before the answer. */
  readonly prompt: string;
  /** Shown after an answer that is none. */
  readonly hint: string;
  /** What an answer means; undefined if it is none. */
  parse(answer: string): T | undefined;
  /** What it means not to answer: Esc, Ctrl-C, or a signal that aborts. */
  readonly otherwise: T;
}

/** A question that waits for its answer. It has an input line of its own: what was being written is left alone. */
export interface OpenQuestion {
  readonly prompt: string;
  readonly hint: string;
  readonly editor: EditorState;
  /** True after an answer that was none. */
  readonly isAskedAgain: boolean;
}

/** Asks one question at a time. */
export class Questions {
  #open: (OpenQuestion & { answer(text: string): boolean; dismiss(): void }) | undefined;
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get open(): OpenQuestion | undefined {
    return this.#open;
  }

  /** Settles with what the answer means. While another question is open, at once with `otherwise`. */
  ask<T>(question: Question<T>, signal?: AbortSignal): Promise<T> {
    if (this.#open !== undefined || signal?.aborted === true) return Promise.resolve(question.otherwise);
    return new Promise((resolve) => {
      const settle = (value: T): void => {
        signal?.removeEventListener('abort', dismiss);
        this.#open = undefined;
        this.#onChange();
        resolve(value);
      };
      const dismiss = (): void => settle(question.otherwise);
      signal?.addEventListener('abort', dismiss, { once: true });
      this.#open = {
        prompt: question.prompt,
        hint: question.hint,
        editor: emptyEditor,
        isAskedAgain: false,
        answer: (text) => {
          const value = question.parse(text.trim().toLowerCase());
          if (value === undefined) return false;
          settle(value);
          return true;
        },
        dismiss,
      };
      this.#onChange();
    });
  }

  /** The answer being written changed. */
  edit(editor: EditorState): void {
    if (this.#open !== undefined) this.#open = { ...this.#open, editor };
    this.#onChange();
  }

  /** The answer was given; one that is none asks again. */
  answer(text: string): void {
    if (this.#open === undefined || this.#open.answer(text)) return;
    this.#open = { ...this.#open, editor: emptyEditor, isAskedAgain: true };
    this.#onChange();
  }

  /** There will be no answer. */
  dismiss(): void {
    this.#open?.dismiss();
  }
}
