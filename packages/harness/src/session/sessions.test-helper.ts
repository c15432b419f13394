import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HarnessLogger } from '../logger.js';
import type { AssistantMessage, ToolMessage } from '../messages.js';
import type { ModelUsage } from '../model/usage.js';
import type { AgentRunResult } from '../result.js';
import { drafts } from './record-drafts.js';
import type { RunOpening, SessionJournal } from './session-journal.js';
import type { SessionRecordDraft } from './session-types.js';

export const usage: ModelUsage = {
  inputTokens: 9,
  outputTokens: 1,
  totalTokens: 10,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  reasoningTokens: null,
};

export function says(content: string | null, ...callIds: readonly string[]): AssistantMessage {
  const toolCalls = callIds.map((id) => ({ id, name: 'write', arguments: '{"x": 1}' }));
  return { role: 'assistant', content, toolCalls, usage };
}

export function answers(toolCallId: string, content = 'written'): ToolMessage {
  return { role: 'tool', toolCallId, content };
}

export function completed(runId: string, output = 'done'): AgentRunResult {
  return {
    runId,
    status: 'completed',
    stopReason: 'text_response',
    output,
    turns: 2,
    usage: { ...usage, requestCount: 2, reportedRequestCount: 2 },
    error: null,
  };
}

/** Drafts of one whole run with a tool call: five records. */
export function wholeRun(runId: string, task = 'do it'): readonly SessionRecordDraft[] {
  const callId = `call-${runId}`;
  return [
    drafts.runStarted(runId, 1, task),
    drafts.assistant(runId, 3, says('look', callId)),
    drafts.toolMessages(runId, 5, [answers(callId)]),
    drafts.assistant(runId, 8, says('done')),
    drafts.runFinished(runId, 10, completed(runId)),
  ];
}

export function opening(
  runId: string,
  task: string | null = 'do it',
  signal = new AbortController().signal,
): RunOpening {
  return { runId, intent: task === null ? 'continue' : 'task', task, sequence: 1, signal };
}

/** Records a whole run through a journal. */
export async function recordRun(journal: SessionJournal, runId: string, task: string | null = 'do it'): Promise<void> {
  await journal.beginRun(opening(runId, task));
  await journal.appendAssistant(runId, 3, says('done'));
  await journal.finishRun(runId, 5, completed(runId));
}

export class Warnings implements HarnessLogger {
  readonly messages: string[] = [];

  warn(message: string): void {
    this.messages.push(message);
  }
}

/** A folder that is removed after the test. */
export class TemporaryFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'session-'));

  journalPath(sessionId: string): string {
    return join(this.path, `${createHash('sha256').update(sessionId).digest('hex')}.jsonl`);
  }

  read(sessionId: string): Buffer {
    return readFileSync(this.journalPath(sessionId));
  }

  /** The lines of a journal, each with its newline. */
  lines(sessionId: string): readonly string[] {
    return this.read(sessionId)
      .toString('utf8')
      .split(/(?<=\n)/);
  }

  write(sessionId: string, content: string | Buffer): void {
    writeFileSync(this.journalPath(sessionId), content);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
