import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

const FILE = join(import.meta.dirname, '..', '..', '..', '.parley', 'test-results', 'cluster-figures.jsonl');

/** Writes down what was measured, for whoever wants to compare; nothing is judged by it. */
export function report(what: string, figures: object): void {
  const line = JSON.stringify({ what, ...figures });
  mkdirSync(dirname(FILE), { recursive: true });
  appendFileSync(FILE, `${line}\n`);
  process.stderr.write(`${line}\n`);
}
