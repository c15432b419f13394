export { DEFAULT_EXCLUDED_FOLDERS, FileTools, type FileToolsOptions } from './files/file-tools.js';
export { DEFAULT_PASSED_ENV } from '@parley/shell';
export { ShellTool, type ShellToolOptions } from './shell/shell-tool.js';
