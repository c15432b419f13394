import { present } from '../present/present.js';
import { asRecord } from '../tasks/as-record.js';
import { nameOf } from '../tasks/delegate-tool.js';
import { failureOf } from './failure-of.js';
import type { TaskCall } from './open-task.js';

const INTRODUCTION = 'Done offline, by rules and without a language model.';
/** Characters of the last deliverable that the answer repeats. */
const MAX_TEXT = 2_000;

/** The answer to a task: a line for each piece of work, then what the last one gave. */
export function composeTaskAnswer(calls: readonly TaskCall[]): string {
  const lines = calls.map(describe);
  const last = calls.at(-1);
  const text = last === undefined || failureOf(last.result) !== undefined ? '' : textOf(last);
  const shown = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()}…` : text;
  return [INTRODUCTION, lines.join('\n'), shown].filter((part) => part !== '').join('\n\n');
}

function describe(call: TaskCall): string {
  const capability = capabilityOf(call);
  const failure = failureOf(call.result);
  if (failure !== undefined) return `- ${capability} failed: ${failure}`;
  const by = call.result?.['by'];
  const output = asRecord(call.result?.['output']);
  const headline = output === undefined ? 'It is done.' : present(capability, output).headline;
  return `- ${capability}${typeof by === 'string' ? ` (${by})` : ''}: ${headline}`;
}

function textOf(call: TaskCall): string {
  const { output, text, beginning } = call.result ?? {};
  const record = asRecord(output);
  if (record !== undefined) return present(capabilityOf(call), record).text;
  return [text, beginning].find((one) => typeof one === 'string') ?? '';
}

function capabilityOf({ call }: TaskCall): string {
  if (call.name !== 'delegate') return call.name;
  try {
    return nameOf(String(asRecord(JSON.parse(call.arguments))?.['capability']));
  } catch {
    return call.name;
  }
}
