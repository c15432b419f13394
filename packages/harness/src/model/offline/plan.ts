import type { ToolDefinition } from '../../tools/tool-definition.js';
import { fillArguments } from './argument-filler.js';
import type { MaskedText } from './masked-text.js';
import type { MadeCall, OpenRequest } from './open-request.js';
import { halvesOf, readStep, stepsOf } from './request-step.js';
import { type RequestedCall, readStructuredRequest } from './structured-request.js';
import { failureIn } from './tool-failure.js';
import { ToolMatcher } from './tool-matcher.js';

/** A call to make next. */
export interface PlannedCall {
  readonly tool: ToolDefinition;
  /** JSON text. */
  readonly arguments: string;
}

/** What cannot be done, in words. */
export type PlanNote =
  | { readonly kind: 'missing_arguments'; readonly tool: string; readonly names: readonly string[] }
  | { readonly kind: 'unknown_tool'; readonly tool: string }
  | { readonly kind: 'no_tool'; readonly step: string };

export interface Plan {
  /** To be made now, in one message; empty if everything is done that can be. */
  readonly calls: readonly PlannedCall[];
  readonly notes: readonly PlanNote[];
}

/** Calls for one request; also the bound of its turns. */
export const MAX_CALLS = 32;

/** Parts of one sentence. */
const MAX_PARTS = 16;

/**
 * Works out what to call next for an open request. It keeps nothing between two turns: a step counts as done when an
 * equal call was made, whatever came of it, so nothing is called twice and every request ends.
 */
export class Planner {
  readonly #tools: ReadonlyMap<string, ToolDefinition>;
  readonly #matcher: ToolMatcher;

  constructor(tools: readonly ToolDefinition[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#matcher = new ToolMatcher(tools);
  }

  plan(request: OpenRequest): Plan {
    const draft = new Draft(request.made);
    for (const text of request.texts) {
      const requested = readStructuredRequest(text);
      if (requested === undefined) this.#planWords(text, draft);
      else requested.forEach((call) => this.#planRequested(call, draft));
    }
    return draft.finish();
  }

  #planRequested(requested: RequestedCall, draft: Draft): void {
    const tool = this.#tools.get(requested.tool);
    if (tool === undefined) draft.note({ kind: 'unknown_tool', tool: requested.tool });
    else draft.add({ tool, arguments: JSON.stringify(requested.arguments) });
  }

  #planWords(text: string, draft: Draft): void {
    for (const masked of stepsOf(text).flatMap((step) => this.#parts(step))) {
      const step = readStep(masked);
      const tool = this.#matcher.match(step);
      if (tool === undefined) {
        draft.note({ kind: 'no_tool', step: step.text });
        continue;
      }
      const { values, missing } = fillArguments(tool, step, draft.latestResult);
      if (missing.length === 0) draft.add({ tool, arguments: JSON.stringify(values) });
      // The result that the step points at may be on its way.
      else if (draft.isWaiting) return;
      else draft.note({ kind: 'missing_arguments', tool: tool.name, names: missing });
    }
  }

  /** “Read a and list b” are two steps if each of them has a tool; “translate cats and dogs” is one. */
  #parts(step: MaskedText, depth = 0): readonly MaskedText[] {
    if (depth === MAX_PARTS) return [step];
    const halves = halvesOf(step).find((pair) =>
      pair.every((half) => this.#matcher.match(readStep(half)) !== undefined),
    );
    return halves === undefined ? [step] : [halves[0], ...this.#parts(halves[1], depth + 1)];
  }
}

/** Collects planned calls in order and tells those that were made from those to make. */
class Draft {
  readonly #made: readonly MadeCall[];
  readonly #results = new Map<string, string | undefined>();
  readonly #pending = new Map<string, PlannedCall>();
  readonly #notes: PlanNote[] = [];
  #latestResult: string | undefined;

  constructor(made: readonly MadeCall[]) {
    this.#made = made;
    for (const { call, result } of made) this.#results.set(keyOf(call.name, call.arguments), result);
  }

  /** What the planned call before gave; undefined if it failed, for the next step is not about its error. */
  get latestResult(): string | undefined {
    return this.#latestResult;
  }

  /** A call before has not been made yet. */
  get isWaiting(): boolean {
    return this.#pending.size > 0;
  }

  add(call: PlannedCall): void {
    const key = keyOf(call.tool.name, call.arguments);
    if (this.#results.has(key)) {
      const result = this.#results.get(key);
      this.#latestResult = result === undefined || failureIn(result) !== undefined ? undefined : result;
      return;
    }
    this.#latestResult = undefined;
    this.#pending.set(key, call);
  }

  note(note: PlanNote): void {
    this.#notes.push(note);
  }

  /** The calls that can be made at the same time: read-only ones up to the first that is not, or that one alone. */
  finish(): Plan {
    const pending = [...this.#pending.values()].slice(0, Math.max(0, MAX_CALLS - this.#made.length));
    const barrier = pending.findIndex(({ tool }) => tool.effect !== 'read_only');
    const calls = barrier === -1 ? pending : pending.slice(0, Math.max(1, barrier));
    return { calls, notes: this.#notes };
  }
}

function keyOf(name: string, args: string): string {
  return `${name} ${args}`;
}
