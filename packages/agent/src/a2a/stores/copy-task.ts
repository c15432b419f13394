import type { Task } from '@a2a-js/sdk';

/** A deep copy. Bytes are shared: nobody writes into the content of a file. */
export function copyTask(task: Task): Task {
  return copy(task) as Task;
}

// Measured on a task with 20 messages: a quarter of what structuredClone takes, which turns a Buffer into bare bytes too.
function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return value.map(copy);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return structuredClone(value);
  const source = value as Record<string, unknown>;
  const out: Record<string, unknown> = {};
  for (const key of Object.keys(source)) {
    const inner = copy(source[key]);
    if (key === '__proto__') Object.defineProperty(out, key, { value: inner, enumerable: true, writable: true });
    else out[key] = inner;
  }
  return out;
}
