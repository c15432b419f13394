import type { JsonObject } from '../json.js';
import type { ToolDefinition } from '../tools/tool-definition.js';

function tool(
  name: string,
  description: string,
  properties: JsonObject,
  required: readonly string[],
  effect: ToolDefinition['effect'] = 'read_only',
): ToolDefinition {
  return { name, description, parameters: { type: 'object', properties, required }, effect };
}

const text = { type: 'string' };

/** Tools like those of an agent that works on files. */
export const fileTools: readonly ToolDefinition[] = [
  tool('read_file', 'Returns the text of a file.', { path: text, limit: { type: 'integer' } }, ['path']),
  tool(
    'write_file',
    'Replaces what a file holds, or makes a new one.',
    { path: text, content: text },
    ['path', 'content'],
    'side_effecting',
  ),
  tool('list_files', 'Names the entries of a folder.', { path: text }, []),
  tool(
    'search_files',
    'Lists lines that match a pattern.',
    { pattern: text, path: text, case_sensitive: { type: 'boolean' } },
    ['pattern'],
  ),
  tool('shell', 'Runs a command and returns what it prints.', { command: text }, ['command'], 'side_effecting'),
];

/** Tools like the skills of small agents. */
export const skillTools: readonly ToolDefinition[] = [
  tool('translate', 'Translates text into another language.', { text, target_language: text }, [
    'text',
    'target_language',
  ]),
  tool('summarize', 'Writes a short summary of a text.', { text, sentences: { type: 'integer' } }, ['text']),
  tool(
    'code_review',
    'Reviews source code and reports problems.',
    { code: text, language: { type: 'string', enum: ['python', 'typescript', 'go'] } },
    ['code'],
  ),
  tool('add', 'Adds two numbers.', { a: { type: 'number' }, b: { type: 'number' } }, ['a', 'b']),
];
