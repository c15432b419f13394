import { PROXY } from '@parley/proxy-protocol';
import type { Action, BashAction, BashResult, JsonObject, ToolResult } from '../domain/facts.js';
import type { ActionEnded } from './event-of-fact.js';
import { contentText, otherContent } from './describe-content.js';
import { generalNumber } from './general-number.js';

const DEFAULT_BASH_SECONDS = 3_600;

interface Outcome {
  readonly completion: JsonObject;
  readonly attributes: JsonObject;
  /** Undefined if nothing failed. */
  readonly errorType: string | undefined;
}

export function outcomeOf(action: Action, ended: ActionEnded): Outcome {
  const { result, cause } = ended;
  const stopped = cause === 'done' ? undefined : cause;
  if (result.kind === 'tool') return toolOutcome(result, stopped);
  return bashOutcome(action.kind === 'bash' ? action : undefined, result, stopped);
}

function toolOutcome(result: ToolResult, stopped: string | undefined): Outcome {
  const text = contentText(result.content);
  const failed = result.isError || stopped !== undefined;
  const others = otherContent(result.content);
  return {
    completion: failed ? { error: text } : { output: text },
    attributes: others === undefined ? {} : { [PROXY.otherContent]: others },
    errorType: stopped ?? (result.isError ? 'tool_error' : undefined),
  };
}

function bashOutcome(action: BashAction | undefined, result: BashResult, stopped: string | undefined): Outcome {
  const { exitCode, timedOut, truncated, stdoutBytes, stderrBytes } = result;
  const output = `${result.stdout}${result.stderr}`;
  return {
    completion: {
      // What it had printed is kept, after the sentence that readers know.
      output: timedOut ? `${timeoutSentence(action)}${output === '' ? '' : `\n${output}`}` : output,
      exit_code: timedOut ? null : (exitCode ?? null),
    },
    attributes: {
      ...(exitCode === undefined ? {} : { [PROXY.exitCode]: exitCode }),
      [PROXY.timedOut]: timedOut,
      [PROXY.truncated]: truncated,
      [PROXY.stdoutBytes]: stdoutBytes,
      [PROXY.stderrBytes]: stderrBytes,
    },
    errorType: stopped ?? bashError(result),
  };
}

function bashError({ timedOut, exitCode }: BashResult): string | undefined {
  if (timedOut) return 'timeout';
  return exitCode === 0 ? undefined : 'nonzero_exit';
}

function timeoutSentence(action: BashAction | undefined): string {
  return `error: the command timed out after ${generalNumber(action?.timeoutSeconds ?? DEFAULT_BASH_SECONDS)}s`;
}
