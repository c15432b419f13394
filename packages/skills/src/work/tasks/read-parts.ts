import type { TaskPart } from '@parley/agent';
import type { Material } from './material.js';
import { asRecord } from './as-record.js';

/** A piece of work that a message describes for programs: `{input}` or `{capability, input, parameters}`. */
export interface WorkOrder {
  readonly capability?: string;
  readonly input: unknown;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** What a message holds, before anybody decided which words are a request and which are to be worked on. */
export interface ReadParts {
  readonly texts: readonly string[];
  /** Everything but plain text parts that can be read as text. */
  readonly files: readonly Material[];
  readonly order: WorkOrder | undefined;
  /** Parts that cannot be worked on, in words. */
  readonly unreadable: readonly string[];
}

/** Characters of a name; the end of it says what a file is written in. */
const MAX_NAME = 200;

const TEXT_TYPES =
  /^(?:text\/|application\/(?:json|javascript|typescript|xml|x-(?:javascript|typescript|sh|yaml))|.*\+(?:json|xml)$)/u;

/** Reads parts as text. A URL is never opened, and bytes that are no UTF-8 are not guessed at. */
export function readParts(parts: readonly TaskPart[]): ReadParts {
  const texts: string[] = [];
  const files: Material[] = [];
  const unreadable: string[] = [];
  let order: WorkOrder | undefined;
  for (const [index, part] of parts.entries()) {
    const name = `part_${index + 1}`;
    switch (part.kind) {
      case 'text':
        if (part.text.trim() !== '') texts.push(part.text);
        break;
      case 'data':
        order ??= readOrder(part.data);
        if (readOrder(part.data) === undefined) {
          files.push({
            name,
            text: JSON.stringify(part.data, null, 2),
            mediaType: 'application/json',
            isResult: false,
          });
        }
        break;
      case 'bytes': {
        const read = readFile(part, name);
        if (typeof read === 'string') unreadable.push(read);
        else files.push(read);
        break;
      }
      case 'url':
        unreadable.push(`${part.name ?? name} is an address, and addresses are not opened here.`);
    }
  }
  return { texts, files: withUniqueNames(files), order, unreadable };
}

function readOrder(data: unknown): WorkOrder | undefined {
  const { capability, input, parameters, ...rest } = asRecord(data) ?? {};
  if (input === undefined || Object.keys(rest).length > 0) return undefined;
  if (capability !== undefined && typeof capability !== 'string') return undefined;
  const given = parameters === undefined ? {} : asRecord(parameters);
  if (given === undefined) return undefined;
  return { input, parameters: given, ...(capability === undefined ? {} : { capability }) };
}

function readFile(part: Extract<TaskPart, { readonly kind: 'bytes' }>, fallback: string): Material | string {
  // Models write names back, and tools take none that is longer.
  const name = part.name?.slice(-MAX_NAME) ?? fallback;
  const mediaType = part.mediaType ?? 'text/plain';
  const isDeclaredText = TEXT_TYPES.test(mediaType.toLowerCase());
  const text = decode(part.bytes);
  if (text === undefined || (!isDeclaredText && text.includes('\0'))) return `${name} is not text.`;
  return { name, text, mediaType, isResult: false, ...(part.name === undefined ? {} : { fileName: name }) };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function withUniqueNames(files: readonly Material[]): Material[] {
  const seen = new Map<string, number>();
  return files.map((file) => {
    const count = (seen.get(file.name) ?? 0) + 1;
    seen.set(file.name, count);
    return count === 1 ? file : { ...file, name: `${file.name} (${count})` };
  });
}
