import type { z } from 'zod';
import type { JsonObject } from '../json.js';

const MAX_ERRORS = 8;
const MAX_CUSTOM_CHARS = 200;

/**
 * The result for arguments that a zod schema refused: paths as JSON Pointers, what is wanted there, and never what was
 * given. At most eight errors; `truncated` says that there were more.
 */
export function invalidArguments(tool: string, issues: readonly z.core.$ZodIssue[]): JsonObject {
  const errors = issues.slice(0, MAX_ERRORS).map(describe);
  const truncated = issues.length > MAX_ERRORS ? { truncated: true } : {};
  return { status: 'error', tool, code: 'invalid_tool_arguments', errors, ...truncated };
}

function describe(issue: z.core.$ZodIssue): JsonObject {
  return { path: pointerTo(issue.path), keyword: issue.code, message: wanted(issue) };
}

function pointerTo(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Own words, since messages of a schema may quote the input; only those of its own checks are the author's to word. */
function wanted(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${issue.expected}`;
    case 'too_small':
      return `must be ${issue.inclusive === false ? '>' : '>='} ${String(issue.minimum)} (${issue.origin})`;
    case 'too_big':
      return `must be ${issue.inclusive === false ? '<' : '<='} ${String(issue.maximum)} (${issue.origin})`;
    case 'not_multiple_of':
      return `must be a multiple of ${String(issue.divisor)}`;
    case 'invalid_format':
      return `must match format "${issue.format}"`;
    case 'invalid_value':
      return `must be one of ${issue.values.map((value) => JSON.stringify(String(value))).join(', ')}`;
    case 'unrecognized_keys':
      return 'must not have additional properties';
    case 'invalid_union':
      return 'must match one of the allowed forms';
    case 'invalid_key':
      return 'has a key that is not allowed';
    case 'invalid_element':
      return 'has an element that is not allowed';
    case 'custom':
      return issue.message.slice(0, MAX_CUSTOM_CHARS);
  }
}
