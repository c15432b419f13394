// Where the harness does something else than the recorded EJAgent Core 0.6.0, scenario by scenario. `number` is that of
// the table in docs/harness-api.md; `fields` are the parts of the document that differ for it. Everything else is equal,
// once our own wordings stand for the recorded ones.

const SETTLED = ['events', 'history', 'orphans'];
const SETTLED_AND_SENT = [...SETTLED, 'sent_last', 'can_continue', 'continue_rejection'];

export const DIFFERENCES = [
  { scenario: 'tool_complete_first_of_three', number: 'E1', fields: SETTLED_AND_SENT },
  { scenario: 'tool_reject_first_of_two', number: 'E1', fields: SETTLED },
  { scenario: 'tool_cancel_first_of_two', number: 'E1', fields: SETTLED },
  {
    scenario: 'continue_after_orphan_refused',
    number: 'E1',
    fields: [...SETTLED_AND_SENT, 'results', 'requests'],
  },
  { scenario: 'terminal_in_read_batch_then_write', number: 'E2', fields: SETTLED_AND_SENT },
  { scenario: 'repeated_tool_call', number: 'E3', fields: SETTLED },
  { scenario: 'repeated_key_order', number: 'E3', fields: SETTLED },
  { scenario: 'repeated_inside_one_message', number: 'E3', fields: SETTLED_AND_SENT },
  { scenario: 'one_long_turn_never_compacts', number: 'E6', fields: ['events', 'history', 'sent_last'] },
  { scenario: 'stale_usage_after_compaction', number: 'E7', fields: ['events', 'history', 'sent_last'] },
  { scenario: 'cancel_between_message_and_tools', number: 'E13', fields: SETTLED_AND_SENT },
  { scenario: 'task_cancel_during_tool', number: 'E14', fields: [...SETTLED_AND_SENT, 'results'] },
  { scenario: 'cancel_by_task_cancel', number: 'E14', fields: ['results'] },
  { scenario: 'cancel_stubborn_tool', number: 'E15', fields: ['events', 'history'] },
  { scenario: 'duplicate_call_ids', number: 'E19', fields: ['events', 'history', 'sent_last'] },
  { scenario: 'start_failure', number: 'E23', fields: ['results', 'events', 'continue_rejection'] },
  { scenario: 'validation_bad_schema', number: 'E23', fields: ['results', 'events', 'continue_rejection'] },
  { scenario: 'tool_bad_inputs', number: 'A', fields: ['events', 'history', 'sent_last', 'tool_log'] },
  { scenario: 'mixed_batch_barriers', number: 'B', fields: ['events', 'tool_log'] },
  { scenario: 'pressure_auto_compaction', number: 'C', fields: ['events'] },
];

/** Our wording, and the recorded one. */
const WORDINGS = [
  ['the model answered with neither text nor a tool call', 'chat completion returned empty content'],
  ['the model stream ended without', 'model stream ended without'],
  [
    'the run used 120 of 100 tokens',
    'run used 120 tokens and cannot start another model request under the 100-token budget',
  ],
  [
    'a token budget is set and 1 request(s) did not report usage',
    'run token budget cannot continue because 1 model request(s) did not report usage',
  ],
  [
    'a tool has to finish the run, but the model called none 3 time(s) in a row',
    'explicit-finish mode produced plain text without a completing tool call 3 consecutive times',
  ],
  ['behavior hook 1 failed', "behavior hook 'Thrower' failed"],
  ['the text of a control must not be blank', 'control content must not be empty'],
  ['the follow-up was discarded', 'follow-up was discarded'],
  ['the run cannot be continued', 'continue run was rejected'],
  ['the run was aborted', 'agent run was aborted'],
  ['agent run coroutine was cancelled', 'agent run was aborted'],
  // The original gives an exception's repr there.
  [/^"(unknown tool [^]*)"$/u, '$1'],
  ['"\\"unknown tool', '"unknown tool'],
  ['typed, write\\""', 'typed, write"'],
  // `code` tells programs what `error` tells people; the original has none.
  [/"code": "(?:cancelled_before_start|outcome_unknown|repeated_tool_call)", /gu, ''],
  [/^system: Summary of the conversation so far:\s*/u, 'system: <summary> '],
  [/^system: You have tools[^]*/u, 'system: <tool protocol>'],
  [/^system: A plain answer does not end this task[^]*/u, 'system: <explicit finish>'],
  [/^system: Your last answer called no tool[^]*/u, 'system: <reminder>'],
];

function reword(text) {
  const worded = WORDINGS.reduce((soFar, [ours, theirs]) => soFar.replace(ours, theirs), text);
  // Long entries are cut, and elsewhere where our wording is longer or shorter.
  return /^(?:tool|assistant|user|system)\b.{100}/u.test(worded) ? worded.slice(0, 100) : worded;
}

/** The same document in the recorded words. Token counts follow the texts, so those of ours are not compared to a token. */
export function inRecordedWords(value) {
  if (typeof value === 'string') return reword(value);
  if (Array.isArray(value)) return value.map(inRecordedWords);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, key === 'tokens' ? Math.round(item / 8) : inRecordedWords(item)]),
  );
}
