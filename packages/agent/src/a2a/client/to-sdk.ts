import { Role, type Message, type Part } from '@a2a-js/sdk';
import type { TaskPart } from '../task-executor.js';
import type { A2aSendOptions } from './a2a-connection.js';

export function sdkMessage(parts: readonly TaskPart[], messageId: string, options: A2aSendOptions): Message {
  return {
    messageId,
    contextId: options.contextId ?? '',
    taskId: options.taskId ?? '',
    role: Role.ROLE_USER,
    parts: parts.map(sdkPart),
    metadata: options.metadata === undefined ? undefined : { ...options.metadata },
    extensions: [...(options.extensions ?? [])],
    referenceTaskIds: [],
  };
}

function sdkPart(part: TaskPart): Part {
  const filename = 'name' in part ? (part.name ?? '') : '';
  return {
    content: contentOf(part),
    metadata: undefined,
    filename,
    mediaType: part.mediaType ?? DEFAULT_TYPES[part.kind],
  };
}

function contentOf(part: TaskPart): NonNullable<Part['content']> {
  switch (part.kind) {
    case 'text':
      return { $case: 'text', value: part.text };
    case 'data':
      return { $case: 'data', value: part.data };
    case 'bytes':
      return { $case: 'raw', value: Buffer.from(part.bytes.buffer, part.bytes.byteOffset, part.bytes.byteLength) };
    case 'url':
      return { $case: 'url', value: part.url };
  }
}

const DEFAULT_TYPES: Readonly<Record<TaskPart['kind'], string>> = {
  text: 'text/plain',
  data: 'application/json',
  bytes: 'application/octet-stream',
  url: '',
};
