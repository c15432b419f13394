import type { JsonObject, JsonValue } from '../json.js';
import { normalizeToolDefinition } from '../tools/normalize-tool-definition.js';
import { StepOutcome } from '../tools/step-outcome.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import type { ToolCallContext, ToolHandler } from '../tools/tool-handler.js';
import { argumentErrors, invalidArgumentsResult } from '../validation/argument-errors.js';
import type { ArgumentCheck } from '../validation/schema-compiler.js';
import { compileOutput, MAX_OUTPUT_ERRORS } from './compile-output.js';
import { wrappedSchema, WRAPPED } from './wrapped-schema.js';

const NAME = 'submit_result';

/** The tool with which a child ends its run and hands in a result that fits a schema. */
export class SubmitResultHandler implements ToolHandler {
  readonly tools: readonly ToolDefinition[];
  readonly #check: ArgumentCheck;
  readonly #wrapped: boolean;
  #submitted: { readonly value: JsonValue } | undefined;

  /** @throws SubagentStartError for a schema that cannot be used. */
  constructor(outputSchema: JsonObject) {
    this.#wrapped = outputSchema['type'] !== 'object';
    const parameters = this.#wrapped ? wrappedSchema(outputSchema) : outputSchema;
    this.#check = compileOutput(NAME, parameters);
    const description = 'Hands in the result of the task and ends it. Call it once, when the work is done.';
    this.tools = [normalizeToolDefinition({ name: NAME, description, parameters })];
  }

  /** What was handed in; undefined if nothing was. */
  get submitted(): { readonly value: JsonValue } | undefined {
    return this.#submitted;
  }

  call(context: ToolCallContext): Promise<StepOutcome> {
    return Promise.resolve(this.#accept(context.arguments));
  }

  #accept(args: JsonObject): StepOutcome {
    const found = this.#check(args);
    if (found.length > 0)
      return new StepOutcome(invalidArgumentsResult(NAME, argumentErrors(found, MAX_OUTPUT_ERRORS)));
    const value = this.#wrapped ? args[WRAPPED] : args;
    // A second call of the same message does not replace what ended the run.
    this.#submitted ??= { value: value ?? null };
    return new StepOutcome(this.#submitted.value, { control: 'complete' });
  }
}
