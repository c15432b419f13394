import type { Action, ActionResult, BashResult } from '../domain/facts.js';
import type { EndReason } from './action-run.js';

const WHY: Readonly<Record<EndReason, string>> = {
  cancelled: 'the driver cancelled it',
  turn_over: 'its turn is over',
  lost: 'the proxy was stopped while it ran; what it did is not known',
};

/** SIGKILL and SIGTERM, as a shell that was killed reports them. */
const KILLED = -9;
const TERMINATED = -15;

/** The result of an action that was ended: what there is of it, and why it is over. */
export function resultOfEnded(action: Action, reason: EndReason, result: ActionResult | undefined): ActionResult {
  if (action.kind === 'tool') return toolError(`the tool call was stopped: ${WHY[reason]}`);
  const sentence = `error: the command was stopped: ${WHY[reason]}\n`;
  if (result?.kind !== 'bash') {
    return failedCommand(reason === 'lost' ? KILLED : TERMINATED, sentence);
  }
  const gap = result.stderr === '' || result.stderr.endsWith('\n') ? '' : '\n';
  return { ...result, stderr: result.stderr + gap + sentence };
}

/** The result of an action that a fault of our own kept from running. */
export function resultOfFault(action: Action): ActionResult {
  if (action.kind === 'tool') return toolError('the tool could not be called');
  return failedCommand(126, "error: the command couldn't start\n");
}

function toolError(sentence: string): ActionResult {
  return { kind: 'tool', content: [{ type: 'text', text: `error: ${sentence}` }], isError: true };
}

function failedCommand(exitCode: number, stderr: string): BashResult {
  return {
    kind: 'bash',
    exitCode,
    stdout: '',
    stderr,
    timedOut: false,
    stdoutBytes: 0,
    stderrBytes: stderr.length,
    truncated: false,
  };
}
