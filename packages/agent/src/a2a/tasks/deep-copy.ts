/**
 * A copy that shares nothing with what an executor may go on writing to. By hand, because events are small plain
 * objects and structuredClone takes several times as long for them; bytes stay a Buffer.
 */
export function deepCopy<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (!isPlain(value)) return structuredClone(value);
  const out: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (key === '__proto__')
      Object.defineProperty(out, key, { value: copy(member), enumerable: true, writable: true, configurable: true });
    else out[key] = copy(member);
  }
  return out;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
