import { z } from 'zod';

const content = z.array(z.looseObject({ type: z.string() })).catch([]);

/** Looser than the protocol: a kind of content that is not known here is named, not refused. */
export const toolResultSchema = z.looseObject({
  content,
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional().catch(undefined),
});

export type McpToolResult = z.infer<typeof toolResultSchema>;
type Part = McpToolResult['content'][number];

const CUT_MARK = '\n[cut: the result is larger than allowed]';

/**
 * What a model is told of a result: the texts, one below the other; structured content as JSON if there is no text;
 * images, audio and resources by kind, media type and size.
 *
 * @param maxChars what is longer is cut, with a mark.
 */
export function toolResultText(result: McpToolResult, maxChars: number): string {
  const parts = result.content.map(partText);
  const hasText = result.content.some((part) => part.type === 'text');
  if (!hasText && isStructured(result.structuredContent)) parts.unshift(JSON.stringify(result.structuredContent));
  const text = parts.length === 0 ? '(no content)' : parts.join('\n');
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}${CUT_MARK}`;
}

function isStructured(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
      return textOf(part['text']);
    case 'image':
    case 'audio':
      return `[${part.type} ${textOf(part['mimeType']) || 'of unknown type'}, ${base64Bytes(part['data'])} bytes]`;
    case 'resource_link':
      return bracketed('resource link', part, undefined);
    case 'resource':
      return resourceText(part['resource']);
    default:
      return `[${part.type}]`;
  }
}

function resourceText(resource: unknown): string {
  if (typeof resource !== 'object' || resource === null) return '[resource]';
  const fields = resource as Readonly<Record<string, unknown>>;
  const text = fields['text'];
  if (typeof text === 'string') return `${bracketed('resource', fields, Buffer.byteLength(text))}\n${text}`;
  return bracketed('resource', fields, base64Bytes(fields['blob']));
}

function bracketed(kind: string, fields: Readonly<Record<string, unknown>>, bytes: number | undefined): string {
  const words = [kind, textOf(fields['name']), textOf(fields['uri'])].filter((word) => word !== '');
  const facts = [textOf(fields['mimeType']), bytes === undefined ? '' : `${bytes} bytes`].filter((fact) => fact !== '');
  return `[${[words.join(' '), ...facts].join(', ')}]`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function base64Bytes(value: unknown): number {
  return typeof value === 'string' ? Buffer.byteLength(value, 'base64') : 0;
}
