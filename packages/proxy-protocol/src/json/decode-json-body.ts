import { Buffer, isUtf8 } from 'node:buffer';
import { JsonError } from './json-error.js';

const BYTE_ORDER_MARK = '\ufeff';

/**
 * The text of a JSON body in UTF-8 or UTF-16, each with or without a byte order mark: the two bytes that begin a JSON
 * text tell them apart, as its first character is ASCII.
 *
 * @throws JsonError `encoding` for bytes that are neither.
 */
export function decodeJsonBody(bytes: Uint8Array): string {
  const encoding = utf16Encoding(bytes);
  const text = encoding === undefined ? decodeUtf8(bytes) : decodeUtf16(bytes, encoding);
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

function utf16Encoding(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return undefined;
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return 'utf-16be';
  return undefined;
}

function decodeUtf8(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new JsonError('encoding', 'not UTF-8');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function decodeUtf16(bytes: Uint8Array, encoding: 'utf-16le' | 'utf-16be'): string {
  if (bytes.length % 2 !== 0) throw new JsonError('encoding', 'not UTF-16');
  const littleEndian = Buffer.from(bytes);
  if (encoding === 'utf-16be') littleEndian.swap16();
  return littleEndian.toString('utf16le');
}
