import type { ToolDefinition } from '@parley/harness';
import { nameOf } from '../tasks/delegate-tool.js';
import type { Missing } from '../tasks/pending-question.js';
import { composeTaskAnswer } from './compose-task-answer.js';
import { failureOf } from './failure-of.js';
import type { OpenTask, TaskCall } from './open-task.js';
import { missingOf, readSteps, type TaskStep } from './task-steps.js';
import { OfferedTools } from './offered-tools.js';

/** What the model says next: calls, or the answer. */
export interface Move {
  readonly calls: readonly PlannedCall[];
  readonly text: string | null;
}

interface PlannedCall {
  readonly name: string;
  readonly arguments: object;
}

/** Works out what comes next from what was asked and done so far; it keeps nothing between two turns. */
export function nextMove(task: OpenTask, definitions: readonly ToolDefinition[]): Move {
  const offered = new OfferedTools(definitions);
  const done = task.calls.filter(({ call }) => offered.isWork(call.name));
  const steps = readSteps(task, offered);
  const sources = sourcesOf(task);
  if (done.length === 0) {
    const obstacle = obstacleTo(task, steps, sources, offered);
    if (obstacle !== undefined) return { calls: [obstacle], text: null };
  }
  return nextCalls(task, steps, sources, offered, done) ?? { calls: [], text: composeTaskAnswer(done) };
}

/** Everything is looked at before anything is done: half of what was asked for helps nobody. */
function obstacleTo(
  { messages: [first] }: OpenTask,
  steps: readonly TaskStep[],
  sources: readonly string[],
  offered: OfferedTools,
): PlannedCall | undefined {
  if (steps.length === 0) return ask(`What shall I do with it? ${offered.describe()}`, 'request');
  const impossible = steps.find(({ capability }) => !offered.canDo(capability));
  if (impossible !== undefined) {
    const reason = `I cannot do ${impossible.capability}, and there is nobody that I may ask. ${offered.describe()}`;
    return { name: 'decline', arguments: { reason } };
  }
  for (const step of steps) {
    const question = missingOf(step, offered);
    if (question !== undefined) return ask(question, 'parameters');
  }
  if (sources.length === 0 && first.input_is_given !== true) {
    const unreadable = first.unreadable?.join(' ') ?? '';
    const what = steps[0]?.capability === 'code_review' ? 'Which code' : 'Which text';
    return ask(`${unreadable} ${what} is it about? Please send it.`.trim(), 'text');
  }
  return undefined;
}

function ask(question: string, missing: Missing): PlannedCall {
  return { name: 'ask_for_input', arguments: { question, missing } };
}

/** Names of what the task brought; without anything, the newest that the conversation holds from before. */
function sourcesOf({ messages }: OpenTask): readonly string[] {
  const brought = messages.flatMap(({ parts }) => parts.map(({ name }) => name));
  return brought.length > 0 ? [...new Set(brought)] : messages.flatMap((message) => message.earlier_parts).slice(-1);
}

/** @returns undefined if everything is done, or what comes next cannot be done because something failed. */
function nextCalls(
  { messages: [first] }: OpenTask,
  steps: readonly TaskStep[],
  sources: readonly string[],
  offered: OfferedTools,
  done: readonly TaskCall[],
): Move | undefined {
  let behind = 0;
  let inputs: readonly (readonly string[])[] = [];
  let results: readonly string[] = [];
  for (const step of steps) {
    const fromSources = results.length === 0 || step.capability === 'code_review';
    // Several parts are worked on one by one; what they gave is put together for the next step.
    if (!step.alongside || inputs.length === 0) inputs = fromSources ? sources.map((name) => [name]) : [results];
    const rounds = first.input_is_given === true ? [[]] : inputs;
    const made = done.slice(behind, behind + rounds.length);
    if (made.length < rounds.length) {
      const calls = rounds.slice(made.length).map((names) => offered.callFor(step, names));
      // What others do is asked for one by one: after a failure nobody else is troubled.
      return { calls: offered.isOwn(nameOf(step.capability)) ? calls : calls.slice(0, 1), text: null };
    }
    if (made.some(({ result }) => failureOf(result) !== undefined)) return undefined;
    behind += rounds.length;
    results = made.flatMap(({ result }) => (typeof result?.['part'] === 'string' ? [result['part']] : []));
  }
  return undefined;
}
