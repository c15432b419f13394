import { resolve } from 'node:path';
import type { ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk';
import type { JsonObject, ToolCall, ToolEffect } from '@parley/harness';

/** How a call is shown before it has a result. */
export interface ToolCallPicture {
  readonly title: string;
  readonly kind: ToolKind;
  readonly locations: ToolCallLocation[];
  /** The arguments; what the model wrote if that is no object. */
  readonly rawInput: unknown;
}

/** Words of names; the first kind that has one counts. */
const KIND_WORDS: readonly (readonly [ToolKind, readonly string[]])[] = [
  ['delete', ['delete', 'remove', 'rm', 'unlink']],
  ['move', ['move', 'rename', 'mv']],
  ['edit', ['edit', 'write', 'patch', 'replace', 'insert', 'append', 'create']],
  ['execute', ['shell', 'exec', 'execute', 'run', 'bash', 'command', 'terminal']],
  ['search', ['search', 'grep', 'find', 'glob', 'query']],
  ['fetch', ['fetch', 'http', 'download', 'browse', 'url', 'web']],
  ['think', ['think', 'plan', 'reason', 'subagent']],
  ['read', ['read', 'list', 'get', 'cat', 'view', 'show', 'open']],
];

const MAX_TITLE_CHARS = 200;
/** Longer arguments are shown as they are. */
const MAX_PARSED_CHARS = 1_000_000;

export function describeToolCall(call: ToolCall, cwd: string, effect?: ToolEffect): ToolCallPicture {
  const values = argumentsOf(call);
  return {
    title: titleOf(call.name, values),
    kind: kindOf(call.name, effect),
    locations: values === undefined ? [] : locationsOf(values, cwd),
    rawInput: values ?? call.arguments,
  };
}

/** What kind of work a tool does, by the words of its name; the server of an MCP tool says nothing about it. */
export function kindOf(toolName: string, effect?: ToolEffect): ToolKind {
  const own = toolName.slice(toolName.lastIndexOf('__') + 1);
  const words = new Set(
    own
      .replace(/([a-z0-9])([A-Z])/gu, '$1_$2')
      .toLowerCase()
      .split(/[^a-z0-9]+/u),
  );
  const found = KIND_WORDS.find(([, names]) => names.some((name) => words.has(name)))?.[0];
  // A tool that changes nothing is not shown as one that does.
  if (effect === 'read_only') return found === 'search' || found === 'fetch' || found === 'think' ? found : 'read';
  return found ?? 'other';
}

/** The change that a call of a file tool asks for, if its arguments tell it. */
export function askedChange(
  call: ToolCall,
): { readonly path: string; readonly oldText?: string; readonly newText: string } | undefined {
  const values = argumentsOf(call);
  const path = textIn(values, 'path', 'file_path');
  if (path === undefined) return undefined;
  const newText = textIn(values, 'new_text', 'new_string');
  const oldText = textIn(values, 'old_text', 'old_string');
  if (newText !== undefined && oldText !== undefined) return { path, oldText, newText };
  const content = textIn(values, 'content');
  return content !== undefined && kindOf(call.name) === 'edit' ? { path, newText: content } : undefined;
}

export function diffContent(path: string, oldText: string | null, newText: string): ToolCallContent {
  return { type: 'diff', path, oldText, newText };
}

export function textContent(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text } };
}

/** The arguments of a call if they are an object. */
export function argumentsOf(call: ToolCall): JsonObject | undefined {
  if (call.arguments.length > MAX_PARSED_CHARS) return undefined;
  try {
    const value: unknown = JSON.parse(call.arguments);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

function titleOf(name: string, values: JsonObject | undefined): string {
  const subject = textIn(values, 'command', 'path', 'file_path', 'pattern', 'query', 'url', 'task');
  const title = subject === undefined || subject.trim() === '' ? name : `${name} ${oneLine(subject)}`;
  return title.length <= MAX_TITLE_CHARS ? title : `${title.slice(0, MAX_TITLE_CHARS).toWellFormed()}…`;
}

function locationsOf(values: JsonObject, cwd: string): ToolCallLocation[] {
  const path = textIn(values, 'path', 'file_path');
  if (path === undefined || path.includes('\0')) return [];
  const line = values['offset'];
  const isLine = typeof line === 'number' && Number.isSafeInteger(line) && line >= 1;
  return [{ path: resolve(cwd, path), ...(isLine && { line }) }];
}

function textIn(values: JsonObject | undefined, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = values?.[name];
    if (typeof value === 'string') return value;
  }
  return undefined;
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/gu, ' ');
}
