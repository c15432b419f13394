import { duration } from '../ui/numbers.js';
import { neutraliseLine } from '../ui/neutralise.js';
import { asksForSomething, exitCodeOf, isSettled, stateName, toneOf } from './states.js';
import type { TaskTrack } from './task-track.js';
import { textOf, type UpdateView } from './update-view.js';

export interface EndFacts {
  /** The agent, as it was given. */
  readonly url: string;
  readonly tookMs: number;
}

/**
 * Shows how a task ended, or what it asks for.
 *
 * @returns the exit code. @throws Error if nothing settled it.
 */
export async function showEnd(view: UpdateView, track: TaskTrack, { url, tookMs }: EndFacts): Promise<number> {
  const { taskId, contextId, state, message, isAnswered } = track;
  if (isAnswered) {
    await view.end();
    if (contextId !== '' && !view.isJson)
      await view.line(`answered · context ${neutraliseLine(contextId)} · ${duration(tookMs)}`, 'dim');
    return 0;
  }
  if (taskId === undefined || state === undefined) throw new Error('the agent answered nothing');
  const task = neutraliseLine(taskId);
  if (!isSettled(state)) throw new Error(`nothing more came while the task was ${stateName(state)}: task ${task}`);
  if (view.isJson) return exitCodeOf(state);
  const parts = message?.parts ?? [];
  const isAnswer = state === 'completed' && !view.hasOutput;
  if (isAnswer) await view.answer(parts);
  await view.end();
  const said = isAnswer ? '' : textOf(parts).trim();
  await view.line(said === '' ? stateName(state) : `${stateName(state)}: ${said}`, toneOf(state));
  await view.line(`task ${task} · context ${neutraliseLine(contextId)} · ${duration(tookMs)}`, 'dim');
  if (asksForSomething(state)) await view.line(`answer: parley call ${url} --task ${task} TEXT`, 'dim');
  return exitCodeOf(state);
}
