import type { ProxyActionResult } from '../client/wire-types.js';
import type { Json } from '../json/index.js';

/** What a model is told of an action. */
export interface DescribedResult {
  readonly text: string;
  /** It failed: a tool's error, a code other than 0, no time left, or ended from outside. */
  readonly isError: boolean;
}

/** A command's outputs and, if it failed, its exit code; the text of a tool's answer, with a line for what is no text. */
export function describeResult(result: ProxyActionResult): DescribedResult {
  if (result.kind === 'tool') return { text: result.content.map(describeBlock).join('\n'), isError: result.isError };
  const { stdout, stderr, exitCode, timedOut } = result;
  const end = endOf(exitCode, timedOut);
  const output = `${stdout}${stderr}`;
  const text = end === undefined ? output : `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}${end}`;
  return { text, isError: end !== undefined };
}

function endOf(exitCode: number | undefined, timedOut: boolean): string | undefined {
  if (timedOut) return 'the command timed out';
  if (exitCode === undefined) return 'the command was ended before it was done';
  return exitCode === 0 ? undefined : `exit code ${exitCode}`;
}

function describeBlock(block: Json): string {
  if (typeof block !== 'object' || block === null || !('type' in block)) return JSON.stringify(block);
  const { type, text, mimeType, data } = block as Readonly<Record<string, unknown>>;
  if (type === 'text' && typeof text === 'string') return text;
  if (typeof data === 'string') {
    const kind = typeof mimeType === 'string' ? mimeType : 'of an unknown type';
    return `[${String(type)} ${kind}, ${Math.floor((data.length * 3) / 4)} bytes, not shown]`;
  }
  return JSON.stringify(block);
}
