import { Role, type Message, type Part } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { isJsonObject } from '@parley/proxy-protocol';
import type { Json, JsonObject } from '../../domain/facts.js';

/** In the metadata of a part: its data are the `value` of an object. The protocol's library says it so, too. */
export const WRAPPED_DATA = 'data_part_compat';

/** A message of A2A 1.0 in the form of 0.3, which is how the proxy keeps it: both dialects show the same tasks. */
export function keptMessage({ messageId, metadata, parts, extensions, referenceTaskIds, role }: Message): JsonObject {
  return {
    ...(extensions.length > 0 && { extensions: [...extensions] }),
    kind: 'message',
    messageId,
    ...(metadata !== undefined && { metadata: metadata }),
    parts: parts.map(keptPart),
    ...(referenceTaskIds.length > 0 && { referenceTaskIds: [...referenceTaskIds] }),
    role: role === Role.ROLE_AGENT ? 'agent' : 'user',
  };
}

/**
 * What a driver gets to see; undefined if a part is not text.
 *
 * @throws RequestMalformedError for an empty text, of which nothing can be made.
 */
export function textsOf({ parts }: Message): readonly string[] | undefined {
  const texts = parts.map(({ content }) => (content?.$case === 'text' ? content.value : undefined));
  if (texts.includes('')) throw new RequestMalformedError('a text part must not be empty');
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

function keptPart(part: Part): JsonObject {
  const metadata: { metadata?: JsonObject } = part.metadata === undefined ? {} : { metadata: part.metadata };
  const { content } = part;
  switch (content?.$case) {
    case 'text':
      return { kind: 'text', ...metadata, text: content.value };
    case 'raw':
      return { file: { bytes: content.value.toString('base64'), ...fileNames(part) }, kind: 'file', ...metadata };
    case 'url':
      return { file: { ...fileNames(part), uri: content.value }, kind: 'file', ...metadata };
    default:
      return { kind: 'data', ...keptData(content?.value as Json, metadata.metadata) };
  }
}

/** Data of 0.3 are objects; anything else is put into one, with a mark by which it is found again. */
function keptData(value: Json, metadata: JsonObject | undefined): JsonObject {
  if (isJsonObject(value)) return { data: value, ...(metadata !== undefined && { metadata }) };
  return { data: { value }, metadata: { ...metadata, [WRAPPED_DATA]: true } };
}

function fileNames({ mediaType, filename }: Part): JsonObject {
  return { ...(mediaType !== '' && { mimeType: mediaType }), ...(filename !== '' && { name: filename }) };
}
