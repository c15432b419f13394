import { canonicalJson } from './canonical-json.js';
import { idField, integerField, objectValue, oneOfField, optionalIdField } from './json-fields.js';
import { SessionSerializationError } from './session-errors.js';
import { SESSION_JOURNAL_SCHEMA_VERSION, SESSION_RECORD_KINDS, type SessionRecord } from './session-types.js';

/** One line of a journal, without its newline. Keys are sorted, there are no blanks. */
export function recordToLine(record: SessionRecord): string {
  const { agentId, branchId, data, parentId, recordId, revision, sequence, sessionId, type } = record;
  // The envelope's keys are written in their sorted order.
  return (
    `{"agent_id":${JSON.stringify(agentId)},"branch_id":${JSON.stringify(branchId)},"data":${canonicalJson(data)},` +
    `"journal_schema_version":${SESSION_JOURNAL_SCHEMA_VERSION},"parent_id":${JSON.stringify(parentId)},` +
    `"record_id":${JSON.stringify(recordId)},"revision":${revision},"sequence":${sequence},` +
    `"session_id":${JSON.stringify(sessionId)},"type":"${type}"}`
  );
}

/** Reads a parsed line. Fields that it does not know are no fault. @throws SessionSerializationError */
export function recordFromJson(value: unknown): SessionRecord {
  const label = 'record';
  const fields = objectValue(value, label);
  const version = integerField(fields, 'journal_schema_version', label);
  if (version !== SESSION_JOURNAL_SCHEMA_VERSION) {
    throw new SessionSerializationError(
      `journal schema version ${version} is not known; this reads ${SESSION_JOURNAL_SCHEMA_VERSION}`,
    );
  }
  return {
    recordId: idField(fields, 'record_id', label),
    parentId: optionalIdField(fields, 'parent_id', label),
    branchId: idField(fields, 'branch_id', label),
    revision: integerField(fields, 'revision', label, 1),
    sessionId: idField(fields, 'session_id', label),
    agentId: optionalIdField(fields, 'agent_id', label),
    sequence: integerField(fields, 'sequence', label),
    type: oneOfField(fields, 'type', label, SESSION_RECORD_KINDS),
    data: objectValue(fields['data'], `${label}.data`),
  };
}
