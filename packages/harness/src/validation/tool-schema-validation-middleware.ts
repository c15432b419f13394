import type { JsonObject, JsonValue } from '../json.js';
import { quietLogger, type HarnessLogger } from '../logger.js';
import { StepOutcome } from '../tools/step-outcome.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import type { ToolCallContext, ToolMiddleware, ToolNext } from '../tools/tool-handler.js';
import {
  argumentErrors,
  invalidArgumentsResult,
  uncheckableArguments,
  type ArgumentErrors,
} from './argument-errors.js';
import { SchemaCompiler, type ArgumentCheck } from './schema-compiler.js';
import { TooMuchWorkError } from './work-budget.js';

export interface ToolSchemaValidationOptions {
  /** Errors told at most. Default 8. */
  readonly maxErrors?: number;
  readonly logger?: HarnessLogger;
}

/** From so many values on, arguments are only checked up to their first error. */
const MANY_VALUES = 10_000;

interface CompiledTool {
  readonly parameters: JsonObject;
  readonly check: ArgumentCheck;
  /** Stops at the first error; compiled when it is needed. */
  quickCheck?: ArgumentCheck;
}

/**
 * Checks arguments against the `parameters` of their tool before anything else sees them. A mismatch is an ordinary
 * result: `{status: "error", tool, code: "invalid_tool_arguments", errors: [{path, keyword, message}], truncated?}`.
 * Tools without `parameters` pass.
 *
 * Patterns are matched by RE2. One that it cannot take, such as a lookahead, is not checked, with a warning. Arguments
 * that would take too long to check are refused.
 */
export class ToolSchemaValidationMiddleware implements ToolMiddleware {
  readonly #maxErrors: number;
  readonly #logger: HarnessLogger;
  #compiled = new Map<string, CompiledTool>();
  readonly #compiler: SchemaCompiler;
  readonly #quickCompiler = new SchemaCompiler({ firstErrorOnly: true });

  /** @throws RangeError if `maxErrors` is no integer of at least 1. */
  constructor(options: ToolSchemaValidationOptions = {}) {
    this.#maxErrors = options.maxErrors ?? 8;
    if (!Number.isSafeInteger(this.#maxErrors) || this.#maxErrors < 1)
      throw new RangeError('maxErrors must be at least 1');
    this.#logger = options.logger ?? quietLogger;
    this.#compiler = this.#newCompiler();
  }

  /** @throws ToolSchemaConfigurationError naming the first tool whose schema cannot be used. */
  start(tools: readonly ToolDefinition[], signal: AbortSignal): void {
    this.#compiled = new Map();
    for (const tool of tools) {
      signal.throwIfAborted();
      this.#compiledOf(tool);
    }
  }

  async handle(context: ToolCallContext, next: ToolNext): Promise<StepOutcome> {
    const compiled = this.#compiledOf(context.tool);
    if (compiled === undefined) return next(context);
    const faults = this.#faultsOf(context, compiled);
    if (faults === undefined) return next(context);
    return new StepOutcome(invalidArgumentsResult(context.tool.name, faults));
  }

  /** Tools may come or change while an agent runs, so a schema that was not there at the start is compiled here. */
  #compiledOf(tool: ToolDefinition): CompiledTool | undefined {
    if (tool.parameters === undefined) return undefined;
    const known = this.#compiled.get(tool.name);
    if (known?.parameters === tool.parameters) return known;
    const check = this.#compiler.compile(tool.name, tool.parameters);
    const compiled = { parameters: tool.parameters, check };
    this.#compiled.set(tool.name, compiled);
    return compiled;
  }

  #faultsOf(context: ToolCallContext, compiled: CompiledTool): ArgumentErrors | undefined {
    const many = hasMoreValues(context.arguments, MANY_VALUES);
    if (many) compiled.quickCheck ??= this.#quickCompiler.compile(context.tool.name, compiled.parameters);
    const check = compiled.quickCheck !== undefined && many ? compiled.quickCheck : compiled.check;
    try {
      const found = check(context.arguments);
      if (found.length === 0) return undefined;
      const faults = argumentErrors(found, this.#maxErrors);
      return many ? { ...faults, truncated: true } : faults;
    } catch (error) {
      if (error instanceof TooMuchWorkError) return uncheckableArguments('arguments are too large to be checked');
      // The stack was not deep enough for a recursive schema.
      if (error instanceof RangeError) return uncheckableArguments('arguments are nested too deeply to be checked');
      throw error;
    }
  }

  #newCompiler(): SchemaCompiler {
    const onUncheckedPattern = (tool: string, pattern: string) =>
      this.#logger.warn('a pattern of a tool schema cannot be checked', { tool, pattern: pattern.slice(0, 200) });
    return new SchemaCompiler({ onUncheckedPattern });
  }
}

/** Looks at no more values than it needs. */
function hasMoreValues(root: JsonValue, limit: number): boolean {
  const waiting: JsonValue[] = [root];
  let count = 0;
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const children = Object.values(value);
    count += children.length;
    if (count > limit) return true;
    for (const child of children) if (typeof child === 'object') waiting.push(child);
  }
  return false;
}
