import { SESSION_RUN_INTENTS } from '../enums.js';
import type { JsonObject } from '../json.js';
import type { AgentRunResult } from '../result.js';
import {
  arrayValue,
  idField,
  integerField,
  objectValue,
  oneOfField,
  optionalIdField,
  optionalIntegerField,
  optionalStringField,
} from './json-fields.js';
import { messageFromJson, messageToJson, summaryFromJson, summaryToJson } from './message-codec.js';
import { resultFromJson, resultToJson } from './result-codec.js';
import { SessionSerializationError } from './session-errors.js';
import { historyOf } from './session-history.js';
import {
  DEFAULT_SESSION_BRANCH,
  SESSION_SCHEMA_VERSION,
  type AppliedCompaction,
  type SessionEntry,
  type SessionRun,
  type StoredSession,
} from './session-types.js';

/** What a document holds: a session without its place in a journal. */
export type SessionContent = Pick<StoredSession, 'sessionId' | 'agentId' | 'entries' | 'runs' | 'compactions'>;

/** A session as one JSON document (schema version 1), for exports and checkpoints. */
export function sessionToJson(session: SessionContent): JsonObject {
  return {
    schema_version: SESSION_SCHEMA_VERSION,
    session: {
      agent_id: session.agentId,
      compactions: session.compactions.map(compactionToJson),
      entries: session.entries.map(entryToJson),
      runs: session.runs.map(runToJson),
      session_id: session.sessionId,
    },
  };
}

/**
 * Reads such a document. The session has no place in a journal yet: revision 0 on `main`.
 *
 * @throws SessionSerializationError if it is broken or of another schema version.
 */
export function sessionFromJson(document: unknown): StoredSession {
  const content = sessionContentFromJson(document);
  return {
    ...content,
    branchId: DEFAULT_SESSION_BRANCH,
    messages: historyOf(content.entries, content.compactions.at(-1)),
    revision: 0,
    headId: null,
  };
}

export function sessionContentFromJson(document: unknown): SessionContent {
  const root = objectValue(document, 'document');
  const version = integerField(root, 'schema_version', 'document');
  if (version !== SESSION_SCHEMA_VERSION) {
    throw new SessionSerializationError(
      `session schema version ${version} is not known; this reads ${SESSION_SCHEMA_VERSION}`,
    );
  }
  const fields = objectValue(root['session'], 'session');
  const entries = arrayValue(fields['entries'], 'session.entries').map(entryFromJson);
  const compactions = arrayValue(fields['compactions'], 'session.compactions').map(compactionFromJson);
  if (compactions.some(({ coveredEntryCount }) => coveredEntryCount > entries.length)) {
    throw new SessionSerializationError('a compaction covers entries that the session does not hold');
  }
  return {
    sessionId: idField(fields, 'session_id', 'session'),
    agentId: optionalIdField(fields, 'agent_id', 'session'),
    entries,
    runs: arrayValue(fields['runs'], 'session.runs').map(runFromJson),
    compactions,
  };
}

function entryToJson(entry: SessionEntry): JsonObject {
  return { message: messageToJson(entry.message), run_id: entry.runId, sequence: entry.sequence };
}

function entryFromJson(value: unknown, index: number): SessionEntry {
  const label = `session.entries[${index}]`;
  const fields = objectValue(value, label);
  return {
    runId: idField(fields, 'run_id', label),
    sequence: integerField(fields, 'sequence', label, 1),
    message: messageFromJson(fields['message'], `${label}.message`),
  };
}

function runToJson(run: SessionRun): JsonObject {
  return {
    finish_sequence: run.finishSequence,
    intent: run.intent,
    result: run.result === null ? null : resultToJson(run.result),
    run_id: run.runId,
    start_sequence: run.startSequence,
    task: run.task,
  };
}

function runFromJson(value: unknown, index: number): SessionRun {
  const label = `session.runs[${index}]`;
  const fields = objectValue(value, label);
  const runId = idField(fields, 'run_id', label);
  const hasIntent = fields['intent'] !== undefined;
  return {
    runId,
    intent: hasIntent ? oneOfField(fields, 'intent', label, SESSION_RUN_INTENTS) : 'task',
    task: optionalStringField(fields, 'task', label),
    startSequence: integerField(fields, 'start_sequence', label, 1),
    finishSequence: optionalIntegerField(fields, 'finish_sequence', label),
    ...outcomeFromJson(fields['result'], runId, label),
  };
}

function outcomeFromJson(
  value: unknown,
  runId: string,
  label: string,
): { readonly finished: boolean; readonly result: AgentRunResult | null } {
  if (value === undefined || value === null) return { finished: false, result: null };
  return { finished: true, result: resultFromJson(value, runId, `${label}.result`) };
}

function compactionToJson(compaction: AppliedCompaction): JsonObject {
  return {
    covered_entry_count: compaction.coveredEntryCount,
    messages: compaction.messages.map(messageToJson),
    operation_id: compaction.operationId,
    sequence: compaction.sequence,
    summary: summaryToJson(compaction.summary),
  };
}

function compactionFromJson(value: unknown, index: number): AppliedCompaction {
  const label = `session.compactions[${index}]`;
  const fields = objectValue(value, label);
  return {
    operationId: idField(fields, 'operation_id', label),
    sequence: integerField(fields, 'sequence', label, 1),
    summary: summaryFromJson(fields['summary'], `${label}.summary`),
    messages: arrayValue(fields['messages'], `${label}.messages`).map((message, at) =>
      messageFromJson(message, `${label}.messages[${at}]`),
    ),
    coveredEntryCount: integerField(fields, 'covered_entry_count', label),
  };
}
