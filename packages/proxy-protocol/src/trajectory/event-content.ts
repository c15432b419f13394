import { isJsonObject, parseExact, type Json, type JsonObject } from '../json/index.js';
import { GEN_AI } from './attribute-names.js';
import type { TrajectoryEvent } from './trajectory-event.js';

/** What `gen_ai.prompt` holds; empty if it holds no object. */
export function promptOf(event: TrajectoryEvent): JsonObject {
  return parsed(event.attributes[GEN_AI.prompt]);
}

/** What `gen_ai.completion` holds; empty if it holds no object. */
export function completionOf(event: TrajectoryEvent): JsonObject {
  return parsed(event.attributes[GEN_AI.completion]);
}

/** The content blocks of a recorded call or of a reply. */
export function blocksOf(completion: JsonObject): readonly JsonObject[] {
  const { content } = completion;
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

/** What an action gave back, or the error instead. */
export function resultText(completion: JsonObject): string {
  const { output, error } = completion;
  return textOf(output ?? error ?? null);
}

export function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

function parsed(text: Json | undefined): JsonObject {
  if (typeof text !== 'string') return {};
  try {
    const value = parseExact(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
