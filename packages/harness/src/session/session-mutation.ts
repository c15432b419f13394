import { SESSION_BRANCH_INTENTS, type SessionBranchIntent } from '../enums.js';
import type { JsonObject } from '../json.js';
import type { Message, SummaryEntry } from '../messages.js';
import type { AgentRunResult } from '../result.js';
import { arrayValue, idField, integerField, oneOfField, optionalIdField, stringField } from './json-fields.js';
import { messageFromJson, summaryFromJson } from './message-codec.js';
import { resultFromJson } from './result-codec.js';
import { sessionContentFromJson, type SessionContent } from './session-codec.js';
import type { SessionRecordKind } from './session-types.js';

/** Where a branch came from. */
export interface BranchOrigin {
  readonly baseRecordId: string | null;
  readonly sourceBranchId: string;
  readonly sourceHeadId: string;
  readonly intent: SessionBranchIntent;
}

/** What a record does to a session, read from its data. */
export type SessionMutation =
  | { readonly kind: 'checkpoint'; readonly content: SessionContent }
  | { readonly kind: 'branch'; readonly origin: BranchOrigin }
  | { readonly kind: 'run_start'; readonly runId: string; readonly task: string | null }
  | { readonly kind: 'messages'; readonly runId: string; readonly messages: readonly Message[] }
  | {
      readonly kind: 'compaction';
      readonly operationId: string;
      readonly summary: SummaryEntry;
      readonly messages: readonly Message[];
    }
  | { readonly kind: 'run_finish'; readonly runId: string; readonly result: AgentRunResult };

/** @throws SessionSerializationError if the data lacks what its type needs. */
export function readMutation(type: SessionRecordKind, data: JsonObject): SessionMutation {
  switch (type) {
    case 'checkpoint':
      return { kind: 'checkpoint', content: sessionContentFromJson(data['document']) };
    case 'branch_created':
      return { kind: 'branch', origin: readOrigin(data) };
    case 'run_started':
      return { kind: 'run_start', runId: idField(data, 'run_id', type), task: stringField(data, 'task', type) };
    case 'run_continued':
      return { kind: 'run_start', runId: idField(data, 'run_id', type), task: null };
    case 'message_appended':
      return {
        kind: 'messages',
        runId: idField(data, 'run_id', type),
        messages: [messageFromJson(data['message'], `${type}.message`)],
      };
    case 'messages_appended':
      return { kind: 'messages', runId: idField(data, 'run_id', type), messages: readMessages(data, type) };
    case 'steering_applied':
      return readSteering(data);
    case 'compaction_applied':
      return {
        kind: 'compaction',
        operationId: idField(data, 'operation_id', type),
        summary: summaryFromJson(data['summary'], `${type}.summary`),
        messages: readMessages(data, type),
      };
    case 'run_finished': {
      const runId = idField(data, 'run_id', type);
      return { kind: 'run_finish', runId, result: resultFromJson(data['result'], runId, `${type}.result`) };
    }
  }
}

function readMessages(data: JsonObject, label: string): readonly Message[] {
  return arrayValue(data['messages'], `${label}.messages`).map((message, index) =>
    messageFromJson(message, `${label}.messages[${index}]`),
  );
}

function readSteering(data: JsonObject): SessionMutation {
  const label = 'steering_applied';
  idField(data, 'input_id', label);
  integerField(data, 'target_turn', label, 1);
  const message: Message = { role: 'user', content: stringField(data, 'content', label) };
  return { kind: 'messages', runId: idField(data, 'run_id', label), messages: [message] };
}

function readOrigin(data: JsonObject): BranchOrigin {
  const label = 'branch_created';
  const intent = oneOfField(data, 'intent', label, SESSION_BRANCH_INTENTS);
  if (intent === 'retry') idField(data, 'retried_run_id', label);
  // Only the retry of a first run begins before everything.
  const baseRecordId =
    intent === 'retry' ? optionalIdField(data, 'base_record_id', label) : idField(data, 'base_record_id', label);
  return {
    baseRecordId,
    sourceBranchId: idField(data, 'source_branch_id', label),
    sourceHeadId: idField(data, 'source_head_id', label),
    intent,
  };
}
