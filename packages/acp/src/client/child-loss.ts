import { HarnessError } from '@parley/harness';
import { within } from '@parley/shell';
import { ChildInputClosedError } from '../wire/index.js';
import type { AcpChild } from './acp-child.js';

/** A child's output ends a moment before its exit is known. */
const EXIT_NOTICE_MS = 500;

/** Why the connection to a child ended, in words: by what was wrong with its output, else by how the child ended. */
export async function describeLoss(child: AcpChild, reason: unknown): Promise<string> {
  // A closed input is mostly the first that is seen of a child's end.
  if (reason instanceof HarnessError && !(reason instanceof ChildInputClosedError)) return reason.message;
  await within(EXIT_NOTICE_MS, child.exited);
  if (child.exit !== undefined) return child.describeExit();
  // The library's own word for the end of the child's output says nothing.
  return reason instanceof HarnessError ? reason.message : 'the child has closed its output';
}
