import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { killMarked, MARKER, markedProcesses } from './marked-processes.mjs';
import { WITHIN_MS } from './modes/mock-mode.mjs';

export const MOCK_SERVER = fileURLToPath(new URL('./mock-acp-server.mjs', import.meta.url));

/** Deadlines that nothing reaches but what sets its own. */
export const PATIENT = {
  initializeMs: 20_000,
  newSessionMs: 20_000,
  idleMs: 20_000,
  promptMs: 30_000,
  cancelGraceMs: 1_000,
  closeMs: 500,
  termMs: 500,
};

/**
 * @typedef {import('./modes/mock-mode.mjs').MockMode} MockMode
 *
 * @typedef {object} ModeRun
 * @property {string} name
 * @property {string} outcome the stop reason, or `start: ` and the code of the error
 * @property {any} [result]
 * @property {any} [error] of the start
 * @property {number} ms until the result or the error, from the start or from the cancel
 * @property {number} aliveAtResult processes that lived when it came
 * @property {number} left processes that lived when everything was disposed of
 * @property {string[]} faults of what the provider wrote
 * @property {any[]} journal of the mock
 * @property {string[]} unexpected what was not as the mode wants it
 */

/**
 * Runs one mode: start, result, dispose.
 *
 * @param {MockMode} mode
 * @param {(options: any) => { start(request: any): Promise<any>, close(): Promise<void> }} createProvider
 * @returns {Promise<ModeRun>}
 */
export async function runMode(mode, createProvider) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-acp-mode-')));
  const mark = randomUUID();
  const journalPath = join(folder, 'journal.jsonl');
  try {
    const provider = createProvider(optionsOf(mode, { folder, mark, journalPath }));
    const run = await follow(mode, provider, { mark, journalPath });
    await provider.close();
    const journal = readJournal(journalPath);
    const faults = faultsIn(journal);
    const done = { name: mode.name, ...run, left: markedProcesses(mark).length, journal, faults };
    return { ...done, unexpected: unexpected(mode, done) };
  } finally {
    killMarked(mark);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns {any[]} */
export function readJournal(path) {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line));
}

/**
 * What a provider wrote against the protocol, and what it left unanswered.
 *
 * @param {readonly any[]} journal
 * @returns {string[]}
 */
export function faultsIn(journal) {
  return journal.flatMap(({ event, fault, unanswered = [] }) => [
    ...(event === 'fault' ? [fault] : []),
    ...(event === 'eof' ? unanswered.map((id) => `${id} was never answered`) : []),
  ]);
}

function optionsOf(mode, { folder, mark, journalPath }) {
  const made = make(mode.make ?? {}, folder);
  const { deadlines = {}, env = {}, ...more } = mode.options ?? {};
  return {
    ...programOf(mode, made, JSON.stringify({ journal: journalPath, ...mode.script })),
    cwd: folder,
    ...more,
    ...(more.cwd !== undefined && { cwd: more.cwd.replace('{made}', made) }),
    env: { [MARKER]: mark, ...env },
    deadlines: { ...PATIENT, ...deadlines },
  };
}

function programOf({ command, args = [], wrapped = false }, made, script) {
  if (command !== undefined) return { command: command.replace('{made}', made), args };
  const mock = [MOCK_SERVER, script];
  if (!wrapped) return { command: process.execPath, args: mock };
  return { command: 'sh', args: ['-c', '"$0" "$@"; exit $?', process.execPath, ...mock] };
}

function make({ file, mode, folder: folderName, loop }, folder) {
  const path = join(folder, file ?? folderName ?? loop ?? '');
  if (file !== undefined) writeFileSync(path, '#!/bin/sh\n', { mode });
  if (folderName !== undefined) mkdirSync(path);
  if (loop !== undefined) symlinkSync(path, path);
  return path;
}

async function follow({ cancel }, provider, { mark, journalPath }) {
  const controller = new AbortController();
  let begun = performance.now();
  const stop = () => {
    begun = performance.now();
    controller.abort(new Error('the parent changed its mind'));
  };
  if (cancel?.when === 'before') stop();
  const starting = provider.start(requestOf(controller.signal));
  if (cancel !== undefined) void hasComeTo(cancel.when, journalPath).then((came) => came && stop());
  const come = (more) => ({ ms: performance.now() - begun, aliveAtResult: markedProcesses(mark).length, ...more });
  let run;
  try {
    run = await starting;
  } catch (error) {
    return come({ outcome: `start: ${error.code ?? error.name}`, error });
  }
  if (cancel?.when === 'text') {
    await firstText(run);
    begun = performance.now();
    if (cancel.by === 'cancel') run.cancel('enough');
    else if (cancel.by === 'dispose') void run.dispose();
    else stop();
  }
  const result = await run.result;
  const told = come({ outcome: result.stopReason, result });
  await run.dispose();
  return { ...told, leftByRun: markedProcesses(mark).length };
}

/**
 * @param {AbortSignal} [signal]
 * @param {string} [text] of the prompt
 * @returns {import('@parley/harness').SubagentRequest}
 */
export function requestOf(signal = new AbortController().signal, text = 'Do it.') {
  return { label: 'mode', prompt: [{ type: 'text', text }], parent: { agentId: 'parent', depth: 0 }, signal };
}

async function firstText({ updates }) {
  for await (const { kind } of updates) if (kind === 'text') return;
}

/** True when the mock has got the request; false when it never will. */
async function hasComeTo(method, journalPath) {
  if (!method.includes('/') && method !== 'initialize') return false;
  const giveUpAt = performance.now() + WITHIN_MS;
  while (performance.now() < giveUpAt) {
    if (readJournal(journalPath).some(({ event, message }) => event === 'in' && message.method === method)) return true;
    await delay(5);
  }
  return false;
}

function unexpected({ expect, withinMs = WITHIN_MS }, { result, error, ms, left, leftByRun = 0, faults }) {
  const wrong = faults.map((fault) => `what it wrote: ${fault}`);
  if (left > 0 || leftByRun > 0) wrong.push(`${Math.max(left, leftByRun)} processes were left`);
  if (ms > withinMs) wrong.push(`took ${Math.round(ms)} ms`);
  const told = error === undefined ? `${result.stopReason}: ${result.diagnostic}` : `start: ${error.message}`;
  if (expect.start !== undefined)
    return error && new RegExp(expect.start, 'u').test(error.message) ? wrong : [...wrong, told];
  if (result === undefined || result.stopReason !== expect.stopReason) return [...wrong, told];
  const { output = '', diagnostic = '' } = result;
  if (expect.output !== undefined && output !== expect.output) wrong.push(`output: ${output.slice(0, 200)}`);
  if (!matches(expect.outputPattern, output)) wrong.push(`output: ${output.slice(0, 200)}`);
  if (!matches(expect.diagnostic, diagnostic)) wrong.push(`diagnostic: ${diagnostic}`);
  return wrong;
}

function matches(pattern, text) {
  return pattern === undefined || new RegExp(pattern, 'u').test(text);
}
