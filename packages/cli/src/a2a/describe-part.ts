import type { TaskPart } from '@parley/agent';
import { neutraliseLine } from '../ui/neutralise.js';

/** What a part is, where it is not shown itself: `file plan.pdf (application/pdf, 1.2 kB)`. */
export function describePart(part: TaskPart): string {
  switch (part.kind) {
    case 'text':
      return `text (${size(Buffer.byteLength(part.text))})`;
    case 'data':
      return `data (${size(Buffer.byteLength(JSON.stringify(part.data ?? null)))})`;
    case 'bytes':
      return named('file', part.name ?? '', [part.mediaType ?? '', size(part.bytes.byteLength)]);
    case 'url':
      return named('file', part.name ?? '', [part.mediaType ?? '', part.url]);
  }
}

function named(what: string, name: string, facts: readonly string[]): string {
  const said = facts.map(neutraliseLine).filter((fact) => fact !== '');
  return [what, neutraliseLine(name), `(${said.join(', ')})`].filter((word) => word !== '').join(' ');
}

function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
