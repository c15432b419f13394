import { brokenShapes } from './broken-shapes.test-helper.js';
import { contentShapes } from './content-shapes.test-helper.js';
import { framingShapes } from './framing-shapes.test-helper.js';
import type { FailedAnswer, OddShape, WholeAnswer } from './odd-shape.test-helper.js';
import { failureShapes, refusalShapes } from './refusal-shapes.test-helper.js';
import { toolCallShapes } from './tool-call-shapes.test-helper.js';
import { usageShapes } from './usage-shapes.test-helper.js';

/** Everything that servers are known to send, and what comes of it. */
export const oddShapes: readonly OddShape[] = [
  ...framingShapes,
  ...contentShapes,
  ...toolCallShapes,
  ...usageShapes,
  ...brokenShapes,
  ...failureShapes,
  ...refusalShapes,
];

/** The shapes as a Markdown table of two columns. */
export function oddShapesTable(shapes: readonly OddShape[] = oddShapes): string {
  const rows = shapes.map(({ name, result }) => `| ${name} | ${describeResult(result)} |`);
  return ['| what the server sends | what comes of it |', '| --- | --- |', ...rows].join('\n');
}

function describeResult(result: WholeAnswer | FailedAnswer): string {
  if ('fails' in result) return `fails, \`${result.fails}\`${result.shown === undefined ? '' : ', after its deltas'}`;
  const parts = [`\`${result.finish}\``];
  if (result.text !== undefined) parts.push('text');
  if (result.reasoning !== undefined) parts.push('reasoning');
  if (result.calls !== undefined) parts.push(result.calls.length === 1 ? 'one call' : `${result.calls.length} calls`);
  if (result.ids?.some((id) => id.startsWith('made-')) === true) parts.push('ids made');
  parts.push(result.usage === undefined ? 'usage unknown' : 'usage known');
  return `${parts.join(', ')}${result.warns === true ? ', warning' : ''}`;
}
