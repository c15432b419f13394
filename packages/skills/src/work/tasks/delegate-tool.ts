import type { Delegate, Scalar, TaskPart } from '@parley/agent';
import {
  StepOutcome,
  type JsonObject,
  type ToolCallContext,
  type ToolDefinition,
  type ToolHandler,
} from '@parley/harness';
import { AppError } from '@parley/service-kit';
import { asRecord } from './as-record.js';
import { textOf } from './text-of.js';
import type { Material } from './material.js';
import { isScalar } from './skill-tools.js';
import { toolError } from './tool-error.js';
import type { TurnLedger } from './turn-ledger.js';

/** Codes of failures before anybody had begun. Of every other one nobody knows what was done. */
const NOT_BEGUN = new Set(['delegation_too_deep', 'negotiation_failed']);

export interface DelegateToolOptions {
  readonly delegate: Delegate;
  readonly ledger: TurnLedger;
  readonly hops: number;
  /** What the agent can do itself, and therefore does not hand on. */
  readonly ownCapabilities: readonly string[];
  /** Set if the task is about one capability alone: its name, its agreed parameters, and its input if that is given. */
  readonly only?: {
    readonly capability: string;
    readonly parameters: Readonly<Record<string, Scalar>>;
    readonly input?: unknown;
  };
}

/** Has another agent do what this one cannot. */
export class DelegateTool implements ToolHandler {
  readonly tools: readonly ToolDefinition[];
  readonly #options: DelegateToolOptions;

  constructor(options: DelegateToolOptions) {
    this.#options = options;
    this.tools = [definitionFor(options.only?.capability)];
  }

  async call({ arguments: args, signal }: ToolCallContext): Promise<unknown> {
    const { ledger, only, ownCapabilities } = this.#options;
    const capability = only?.capability ?? textOf(args['capability']);
    const name = nameOf(capability);
    if (ownCapabilities.includes(name))
      return toolError('own_capability', `You can do ${name} yourself: call ${name}.`);
    const parts = this.#partsOf(args);
    if (parts instanceof StepOutcome) return parts;
    const parameters = { ...scalarsOf(args['parameters']), ...only?.parameters };
    ledger.working(`${name}: looking for an agent that does it`);
    try {
      const result = await this.#options.delegate({
        capability,
        parts,
        parameters,
        hops: this.#options.hops,
        signal,
        onProgress: (text) => ledger.working(text.startsWith(`${name}: `) ? text : `${name}: ${text}`),
      });
      return ledger.deliverFrom(result, name, result.applied);
    } catch (error) {
      const begun = !(error instanceof AppError && NOT_BEGUN.has(error.code));
      const failure = withBeginning(AppError.from(error), begun);
      ledger.failed(name, failure);
      return toolError(failure.code, failure.message, { capability: name, partner_had_begun: begun });
    }
  }

  #partsOf(args: JsonObject): readonly TaskPart[] | StepOutcome {
    const { ledger, only } = this.#options;
    if (only?.input !== undefined)
      return [{ kind: 'data', data: { input: only.input }, mediaType: 'application/json' }];
    const task = typeof args['task'] === 'string' && args['task'].trim() !== '' ? [textPart(args['task'])] : [];
    const named = args['part'];
    const names = named === undefined ? ledger.materials.names.slice(-1) : [named].flat().map(String);
    const found = names.flatMap((one) => ledger.materials.find(one) ?? []);
    if (found.length < names.length) {
      return toolError(
        'no_such_part',
        `There is no such part. There are: ${ledger.materials.names.join(', ') || 'none'}.`,
      );
    }
    if (found.length + task.length === 0) return toolError('no_text', 'There is nothing to work on: ask for it.');
    return [...task, ...found.map(partOf)];
  }
}

function definitionFor(only: string | undefined): ToolDefinition {
  return {
    name: 'delegate',
    description:
      'Has another agent do what you cannot: finds one with the capability, agrees with it, and gives back what it made. ' +
      'Never call it again for work that a partner may have begun.',
    effect: 'side_effecting',
    parameters: {
      type: 'object',
      properties: {
        capability: {
          ...(only === undefined ? { type: 'string', minLength: 1, maxLength: 128 } : { const: nameOf(only) }),
          description: 'Name of the capability, such as code_review, also with a range of versions: code_review@^1.',
        },
        task: { type: 'string', maxLength: 8_000, description: 'What is wanted, in words; the part goes along.' },
        parameters: {
          type: 'object',
          additionalProperties: { type: ['string', 'number', 'boolean'] },
          description: 'Parameters of the capability that matter to you.',
        },
        part: {
          description: 'Name of the part to work on; several go along together. Default: the newest.',
          anyOf: [
            { type: 'string', maxLength: 300 },
            { type: 'array', items: { type: 'string', maxLength: 300 }, minItems: 1, maxItems: 20 },
          ],
        },
      },
      required: ['capability'],
      additionalProperties: false,
    },
  };
}

/** Whoever reads it decides whether to ask again: work that had begun may be done already. */
function withBeginning(error: AppError, begun: boolean): AppError {
  const { reason, code, message, errors } = error;
  const told = begun ? 'The partner had begun, or may have.' : 'Nobody had begun.';
  return new AppError(reason, `${message} ${told}`, { code, errors, cause: error });
}

/** The name of a capability, without a range of versions behind it. */
export function nameOf(capability: string): string {
  return capability.split('@')[0] ?? capability;
}

function scalarsOf(value: unknown): Record<string, Scalar> {
  const entries = Object.entries(asRecord(value) ?? {});
  return Object.fromEntries(entries.flatMap(([name, one]) => (isScalar(one) ? [[name, one] as const] : [])));
}

function textPart(text: string): TaskPart {
  return { kind: 'text', text, mediaType: 'text/plain' };
}

/** A file stays a file: its name says what it is written in. */
function partOf({ text, mediaType, fileName }: Material): TaskPart {
  if (fileName === undefined) return { kind: 'text', text, mediaType };
  return { kind: 'bytes', bytes: new TextEncoder().encode(text), name: fileName, mediaType };
}
