import { isJsonObject, type Json, type JsonObject } from '@parley/proxy-protocol';
import type { ToolResult } from '../domain/facts.js';
import { jsonSafe } from './json-safe.js';
import { sessionError } from './mcp-errors.js';

/** A tool as its server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonObject;
}

/** @throws McpError for a page that cannot be read. */
export function readToolPage(result: JsonObject): {
  readonly tools: readonly ListedTool[];
  readonly nextCursor?: string;
} {
  const tools = result['tools'];
  if (!Array.isArray(tools)) throw unreadable('tools/list', 'tools is not a list');
  const nextCursor = result['nextCursor'];
  const page = (tools as readonly Json[]).map(readTool);
  if (nextCursor === undefined || nextCursor === null || nextCursor === '') return { tools: page };
  if (typeof nextCursor !== 'string') throw unreadable('tools/list', 'nextCursor is not a string');
  return { tools: page, nextCursor };
}

function readTool(tool: Json): ListedTool {
  if (!isJsonObject(tool)) throw unreadable('tools/list', 'a tool is not an object');
  const { name, description, inputSchema } = tool;
  if (typeof name !== 'string') throw unreadable('tools/list', 'a tool has no string name');
  if (typeof (description ?? '') !== 'string') throw unreadable('tools/list', "a tool's description is not a string");
  const schema = inputSchema ?? undefined;
  if (schema !== undefined && !isJsonObject(schema))
    throw unreadable('tools/list', "a tool's inputSchema is not an object");
  return {
    name: jsonSafe(name),
    ...(typeof description === 'string' ? { description: jsonSafe(description) } : {}),
    ...(schema === undefined ? {} : { inputSchema: jsonSafe(schema) }),
  };
}

/** @throws McpError for a result that cannot be read. */
export function readToolResult(result: JsonObject): ToolResult {
  const { content = [], isError = false } = result;
  if (!Array.isArray(content)) throw unreadable('tools/call', 'content is not a list');
  if (typeof isError !== 'boolean') throw unreadable('tools/call', 'isError is neither true nor false');
  for (const block of content as readonly Json[]) checkBlock(block);
  return { kind: 'tool', content: jsonSafe(content as readonly Json[]), isError };
}

function checkBlock(block: Json): void {
  if (!isJsonObject(block)) throw unreadable('tools/call', 'a content block is not an object');
  if (block['type'] === 'text' && typeof block['text'] !== 'string') {
    throw unreadable('tools/call', 'a text block has no string text');
  }
}

function unreadable(method: string, why: string): Error {
  return sessionError(`${method}: unreadable result: ${why}`);
}
