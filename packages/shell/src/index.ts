export { runCommand, type Command, type CommandEnd } from './run-command.js';
export { startCommand, type CommandResult, type StartCommandOptions, type StartedCommand } from './start-command.js';
export type { FamilyEnd } from './family-ender.js';
export { OutputCapture, type CapturedOutput } from './output-capture.js';
export type { OutputChunk, StreamName } from './output-chunks.js';
export { DEFAULT_PASSED_ENV, shellEnvironment } from './shell-environment.js';
export { findShell, type FoundShell } from './find-shell.js';
export { systemCode } from './system-code.js';
export { withoutCutCharacter } from './utf8-cut.js';
