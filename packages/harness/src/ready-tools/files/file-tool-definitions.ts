import type { ToolDefinition } from '../../tools/tool-definition.js';

const PATH = 'Relative to the root folder.';

export const READ_FILE: ToolDefinition = {
  name: 'read_file',
  description: 'Reads lines of a text file. Long files are given in parts: go on with offset.',
  effect: 'read_only',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: PATH },
      offset: { type: 'integer', minimum: 1, description: 'The first line, from 1.' },
      limit: { type: 'integer', minimum: 1, description: 'How many lines at most. Default 2000.' },
    },
    required: ['path'],
    additionalProperties: false,
  },
};

export const LIST_FILES: ToolDefinition = {
  name: 'list_files',
  description: 'Lists a folder. Folders end in /, links in @.',
  effect: 'read_only',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: `${PATH} Default the root folder itself.` },
      depth: { type: 'integer', minimum: 1, maximum: 20, description: 'How many levels. Default 2.' },
    },
    additionalProperties: false,
  },
};

export const SEARCH_FILES: ToolDefinition = {
  name: 'search_files',
  description: 'Searches text files line by line for a regular expression (RE2 syntax; (?i) ignores case).',
  effect: 'read_only',
  parameters: {
    type: 'object',
    properties: {
      pattern: { type: 'string' },
      path: { type: 'string', description: `File or folder. ${PATH} Default the root folder itself.` },
      glob: { type: 'string', description: 'Only files like this, such as *.ts or src/**/*.{js,ts}.' },
      max_results: { type: 'integer', minimum: 1 },
    },
    required: ['pattern'],
    additionalProperties: false,
  },
};

export const WRITE_FILE: ToolDefinition = {
  name: 'write_file',
  description: 'Writes a text file, whole. Makes missing folders. Replaces a file that is there.',
  effect: 'side_effecting',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string', description: PATH }, content: { type: 'string' } },
    required: ['path', 'content'],
    additionalProperties: false,
  },
};

export const EDIT_FILE: ToolDefinition = {
  name: 'edit_file',
  description: 'Replaces a piece of a text file. The old text must occur exactly once, unless replace_all is set.',
  effect: 'side_effecting',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: PATH },
      old_text: { type: 'string' },
      new_text: { type: 'string' },
      replace_all: { type: 'boolean' },
    },
    required: ['path', 'old_text', 'new_text'],
    additionalProperties: false,
  },
};
