import { z } from 'zod';
import { pathText } from './request-params.js';
import { invalidParams } from './rpc-failures.js';

const text = z.object({ text: z.string() });
const link = z.object({ name: z.string(), uri: z.string() });
const resource = z.object({ resource: z.object({ uri: z.string(), text: z.string() }) });

/** What a block adds: text where it stands, and what is told behind everything. */
interface Piece {
  readonly inline: string;
  readonly isText: boolean;
  readonly appendix?: string;
}

/**
 * A prompt as the task of a run. Links are told by name and address; the text of an embedded resource comes at the end,
 * under its address.
 *
 * @throws -32602 for a block of another kind, or if nothing is asked.
 */
export function promptTask(blocks: readonly unknown[]): string {
  const pieces = blocks.map(readBlock);
  let task = '';
  let wasText = false;
  for (const { inline, isText } of pieces) {
    task += wasText && isText ? `\n${inline}` : inline;
    wasText = isText;
  }
  for (const { appendix } of pieces) if (appendix !== undefined) task += `\n\n${appendix}`;
  if (task.trim() === '') throw invalidParams({ path: 'prompt', message: 'holds no text' });
  return task;
}

function readBlock(raw: unknown, index: number): Piece {
  const type = typeof raw === 'object' && raw !== null && 'type' in raw ? raw.type : undefined;
  switch (type) {
    case 'text':
      return { inline: parse(text, raw, index).text, isText: true };
    case 'resource_link': {
      const { name, uri } = parse(link, raw, index);
      return { inline: `[${name}](${uri})`, isText: false };
    }
    case 'resource': {
      const { resource: embedded } = parse(resource, raw, index);
      return {
        inline: `[${lastPart(embedded.uri)}](${embedded.uri})`,
        isText: false,
        appendix: `<resource uri=${JSON.stringify(embedded.uri)}>\n${embedded.text}\n</resource>`,
      };
    }
    default:
      throw invalidParams({
        path: pathText(['prompt', index, 'type']),
        message: 'only text, resource_link and resource with text can be used',
      });
  }
}

function parse<T>(schema: z.ZodType<T>, raw: unknown, index: number): T {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw invalidParams(
    ...parsed.error.issues.map(({ path, message }) => ({ path: pathText(['prompt', index, ...path]), message })),
  );
}

function lastPart(uri: string): string {
  return uri.split('/').findLast((part) => part !== '') ?? uri;
}
