import type { Message, SessionStorage } from '@parley/harness';
import { withJournal } from '../harness-run.js';
import { present } from '../present/present.js';
import { asRecord } from './as-record.js';
import type { LivingContext } from './contexts.js';
import { nameOf } from './delegate-tool.js';
import { MISSING } from './pending-question.js';
import { readTaskMessage } from './task-message.js';

/**
 * What a journal says of a context that this process does not remember: the parts that it holds whole, and the questions
 * that nobody answered. Texts that were too long to be shown to a model are gone.
 */
export async function restoreContext(
  context: LivingContext,
  storage: SessionStorage,
  contextId: string,
): Promise<void> {
  const session = await withJournal(storage.load(contextId));
  let taskId = '';
  const calls = new Map<string, Call>();
  for (const message of session?.messages ?? []) {
    if (message.role === 'user') taskId = restoreRequest(context, message.content) ?? taskId;
    if (message.role === 'assistant') for (const call of callsOf(message)) calls.set(call.id, call);
    if (message.role === 'tool') {
      const call = calls.get(message.toolCallId);
      if (call !== undefined) restoreResult(context, taskId, call, asRecord(parsed(message.content)) ?? {});
    }
  }
}

interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

function callsOf(message: Extract<Message, { readonly role: 'assistant' }>): readonly Call[] {
  return message.toolCalls.map(({ id, name, arguments: args }) => ({
    id,
    name,
    arguments: asRecord(parsed(args)) ?? {},
  }));
}

function restoreRequest(context: LivingContext, content: string): string | undefined {
  const message = readTaskMessage(content);
  if (message === undefined) return undefined;
  if (message.follow_up) context.takePending(message.task_id);
  for (const { name, media_type: mediaType, text, is_cut: isCut, file_name: fileName } of message.parts) {
    const file = fileName === undefined ? {} : { fileName };
    if (!isCut) context.materials.add({ name, text, mediaType, isResult: false, ...file });
  }
  return message.task_id;
}

function restoreResult(
  context: LivingContext,
  taskId: string,
  call: Call,
  result: Readonly<Record<string, unknown>>,
): void {
  if (call.name === 'ask_for_input' && result['asked'] === true) {
    const missing = MISSING.find((one) => one === call.arguments['missing']) ?? 'request';
    context.ask(taskId, { missing });
  }
  const { part, output, text } = result;
  if (typeof part !== 'string') return;
  const capability = call.name === 'delegate' ? nameOf(String(call.arguments['capability'])) : call.name;
  const record = asRecord(output);
  const given = record === undefined ? text : present(capability, record).text;
  if (typeof given === 'string')
    context.materials.add({ name: part, text: given, mediaType: 'text/plain', isResult: true });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
