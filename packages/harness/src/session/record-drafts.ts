import type { ControlInput } from '../control.js';
import type { AssistantMessage, Message, SummaryEntry, ToolMessage } from '../messages.js';
import type { AgentRunResult } from '../result.js';
import { messageToJson, summaryToJson } from './message-codec.js';
import { resultToJson } from './result-codec.js';
import { sessionToJson, type SessionContent } from './session-codec.js';
import type { SessionRecordDraft } from './session-types.js';

/** Drafts of the records that a run leaves. Each takes the sequence of the event that belongs to it. */
export const drafts = {
  runStarted: (runId: string, sequence: number, task: string): SessionRecordDraft => ({
    type: 'run_started',
    sequence,
    data: { run_id: runId, task },
  }),
  runContinued: (runId: string, sequence: number): SessionRecordDraft => ({
    type: 'run_continued',
    sequence,
    data: { run_id: runId },
  }),
  assistant: (runId: string, sequence: number, message: AssistantMessage): SessionRecordDraft => ({
    type: 'message_appended',
    sequence,
    data: { message: messageToJson(message), run_id: runId },
  }),
  toolMessages: (runId: string, sequence: number, messages: readonly ToolMessage[]): SessionRecordDraft => ({
    type: 'messages_appended',
    sequence,
    data: { messages: messages.map(messageToJson), run_id: runId },
  }),
  steering: (runId: string, sequence: number, control: ControlInput, targetTurn: number): SessionRecordDraft => ({
    type: 'steering_applied',
    sequence,
    data: { content: control.content, input_id: control.inputId, run_id: runId, target_turn: targetTurn },
  }),
  compaction: (
    sequence: number,
    operationId: string,
    summary: SummaryEntry,
    messages: readonly Message[],
  ): SessionRecordDraft => ({
    type: 'compaction_applied',
    sequence,
    data: { messages: messages.map(messageToJson), operation_id: operationId, summary: summaryToJson(summary) },
  }),
  runFinished: (runId: string, sequence: number, result: AgentRunResult): SessionRecordDraft => ({
    type: 'run_finished',
    sequence,
    data: { result: resultToJson(result), run_id: runId },
  }),
  checkpoint: (session: SessionContent): SessionRecordDraft => ({
    type: 'checkpoint',
    sequence: 0,
    data: { document: sessionToJson(session) },
  }),
};
