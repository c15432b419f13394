import { QueryRefusal, type QueryOrder } from './query.js';

/** Where a page ended. Opaque to callers: base64url of JSON. */
export type Cursor =
  | { readonly order: 'id'; readonly afterId: string }
  | { readonly order: 'freshest'; readonly key: number; readonly afterId: string }
  | { readonly order: 'random'; readonly seed: number; readonly key: number; readonly afterId: string };

const MAX_CURSOR_LENGTH = 512;

export function encodeCursor(cursor: Cursor): string {
  const plain =
    cursor.order === 'id'
      ? { o: 'id', a: cursor.afterId }
      : cursor.order === 'freshest'
        ? { o: 'freshest', k: cursor.key, a: cursor.afterId }
        : { o: 'random', s: cursor.seed, k: cursor.key, a: cursor.afterId };
  return Buffer.from(JSON.stringify(plain)).toString('base64url');
}

/** @throws QueryRefusal for a cursor that is damaged or comes from a query in another order. */
export function decodeCursor(text: string, order: QueryOrder): Cursor {
  const plain = text.length <= MAX_CURSOR_LENGTH ? parse(text) : undefined;
  const { o, s, k, a } = plain ?? {};
  if (typeof a !== 'string' || a === '' || (o !== 'id' && o !== 'freshest' && o !== 'random'))
    throw refusal('is not a cursor of this registry');
  if (o !== order) throw refusal(`belongs to a query with order=${o}`);
  if (o === 'id') return { order: 'id', afterId: a };
  if (!Number.isSafeInteger(k)) throw refusal('is not a cursor of this registry');
  const key = k as number;
  if (o === 'freshest') return { order: 'freshest', key, afterId: a };
  if (!Number.isSafeInteger(s)) throw refusal('is not a cursor of this registry');
  return { order: 'random', seed: s as number, key, afterId: a };
}

function parse(text: string): Partial<Record<'o' | 's' | 'k' | 'a', unknown>> | undefined {
  // Buffer.from would skip foreign characters in silence.
  if (!/^[\w-]+$/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function refusal(message: string): QueryRefusal {
  return new QueryRefusal('invalid_cursor', 'cursor', message);
}
