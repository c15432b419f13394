import type { ToolEffect } from '../enums.js';
import type { JsonObject } from '../json.js';

/** What a model is told about a tool, and what the harness must know of it. */
export interface ToolDefinition {
  /** 1–64 letters, digits, `_` or `-`. */
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of an object. Absent: the tool takes no arguments that anybody checks. */
  readonly parameters?: JsonObject;
  /** Default `side_effecting`. */
  readonly effect: ToolEffect;
  /** Asks the provider to keep to the schema exactly, where it can. */
  readonly strict?: boolean;
}
