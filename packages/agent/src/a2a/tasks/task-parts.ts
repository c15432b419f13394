import type { Part } from '@a2a-js/sdk';
import type { TaskPart } from '../task-executor.js';

/** @returns undefined for a part without content. */
export function fromPart({ content, filename, mediaType }: Part): TaskPart | undefined {
  if (content === undefined) return undefined;
  const media = mediaType === '' ? {} : { mediaType };
  const name = filename === '' ? {} : { name: filename };
  switch (content.$case) {
    case 'text':
      return { kind: 'text', text: content.value, ...media };
    case 'data':
      return { kind: 'data', data: content.value as unknown, ...media };
    case 'raw':
      return { kind: 'bytes', bytes: content.value, ...name, ...media };
    case 'url':
      return { kind: 'url', url: content.value, ...name, ...media };
  }
}

export function toPart(part: TaskPart): Part {
  const shared = { metadata: undefined, filename: '' };
  switch (part.kind) {
    case 'text':
      return { ...shared, content: { $case: 'text', value: part.text }, mediaType: part.mediaType ?? 'text/plain' };
    case 'data':
      return {
        ...shared,
        content: { $case: 'data', value: part.data },
        mediaType: part.mediaType ?? 'application/json',
      };
    case 'bytes': {
      const { buffer, byteOffset, byteLength } = part.bytes;
      const value = Buffer.from(buffer, byteOffset, byteLength);
      return { content: { $case: 'raw', value }, ...named(part, 'application/octet-stream') };
    }
    case 'url':
      return { content: { $case: 'url', value: part.url }, ...named(part, '') };
  }
}

function named(
  { name, mediaType }: { readonly name?: string; readonly mediaType?: string },
  otherwise: string,
): Omit<Part, 'content'> {
  return { metadata: undefined, filename: name ?? '', mediaType: mediaType ?? otherwise };
}
