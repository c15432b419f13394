import { asRecord } from './as-record.js';
import type { Material } from './material.js';

/** What a run is asked, as the JSON that a model reads. */
export interface TaskMessage {
  /** The words of the request; empty if there were none. */
  readonly request: string;
  readonly task_id: string;
  readonly follow_up: boolean;
  /** The one capability that it is about; absent: the words decide. */
  readonly capability?: string;
  /** The input is fixed: nothing has to be named. */
  readonly input_is_given?: true;
  readonly agreed_parameters: Readonly<Record<string, unknown>>;
  readonly parts: readonly ShownPart[];
  /** Names of what the conversation holds from before, oldest first. */
  readonly earlier_parts: readonly string[];
  /** What came along and cannot be read. */
  readonly unreadable?: readonly string[];
}

export interface ShownPart {
  readonly name: string;
  readonly media_type: string;
  readonly file_name?: string;
  readonly characters: number;
  /** All of it, or its beginning. */
  readonly text: string;
  readonly is_cut: boolean;
}

/** Characters of a part that a model is shown; tools get all of it. */
const MAX_SHOWN_CHARS = 8_000;

export function showPart({ name, mediaType, text, fileName }: Material): ShownPart {
  const isCut = text.length > MAX_SHOWN_CHARS;
  const shown = isCut ? text.slice(0, MAX_SHOWN_CHARS).toWellFormed() : text;
  const file = fileName === undefined ? {} : { file_name: fileName };
  return { name, media_type: mediaType, ...file, characters: text.length, text: shown, is_cut: isCut };
}

/** As JSON nothing inside a part can end it and speak for itself. */
export function writeTaskMessage(message: TaskMessage): string {
  return JSON.stringify(message);
}

/** @returns undefined for a text that is none. */
export function readTaskMessage(text: string): TaskMessage | undefined {
  if (!text.startsWith('{"request":')) return undefined;
  try {
    const record = asRecord(JSON.parse(text));
    // Written above: nobody else's JSON begins so and gets here, since what others wrote is inside of it.
    return Array.isArray(record?.['parts']) ? (record as unknown as TaskMessage) : undefined;
  } catch {
    return undefined;
  }
}
