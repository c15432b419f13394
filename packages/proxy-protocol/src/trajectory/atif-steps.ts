import { isJsonObject, numberOf, type Json, type JsonObject } from '../json/index.js';
import type { AtifMetrics, AtifResult, AtifStep, AtifToolCall } from './atif-types.js';
import { GEN_AI, PROXY } from './attribute-names.js';
import { canonicalJson } from './canonical-json.js';
import { blocksOf, completionOf, promptOf, resultText, textOf } from './event-content.js';
import { eventKind } from './event-kind.js';
import type { TrajectoryEvent } from './trajectory-event.js';

type Draft = Omit<AtifStep, 'step_id'>;

interface ChatStep {
  readonly event: TrajectoryEvent;
  readonly calls: AtifToolCall[];
  readonly results: AtifResult[];
}

/** The steps of one turn: system prompt, message, the model's calls with what came of them, and the reply. */
export function turnSteps(events: readonly TrajectoryEvent[]): readonly Draft[] {
  const last = events.at(-1);
  const turn = last !== undefined && eventKind(last) === 'turn' ? last : undefined;
  const chats: ChatStep[] = [];
  const steps: (() => Draft)[] = [];
  for (const event of events) {
    const kind = eventKind(event);
    if (kind === 'chat') {
      const chat: ChatStep = { event, calls: callsOf(event), results: [] };
      chats.push(chat);
      steps.push(() => chatStep(chat));
    } else if (kind === 'action' && !observed(chats.at(-1), event)) {
      steps.push(() => actionStep(event));
    }
  }
  const reply = turn === undefined ? [] : replySteps(turn, chats.at(-1));
  return [...(turn === undefined ? [] : askedSteps(turn)), ...steps.map((step) => step()), ...reply];
}

function askedSteps(turn: TrajectoryEvent): readonly Draft[] {
  const { prompt, system_prompt: systemPrompt } = promptOf(turn);
  const timestamp = turn.start_time;
  const user: Draft = { timestamp, source: 'user', message: textOf(prompt) };
  if (typeof systemPrompt !== 'string') return [user];
  return [{ timestamp, source: 'system', message: systemPrompt }, user];
}

function callsOf(chat: TrajectoryEvent): AtifToolCall[] {
  const seen = new Set<string>();
  return blocksOf(completionOf(chat))
    .filter(({ type }) => type === 'tool_use')
    .map((block, index) => {
      const { id, name, input } = block;
      // Ids are told from each other within a step.
      const own = typeof id === 'string' && !seen.has(id) ? id : `call_${String(index)}`;
      seen.add(own);
      return { tool_call_id: own, function_name: textOf(name), arguments: isJsonObject(input) ? input : {} };
    });
}

/** Puts an action's result to the call that it was; false if the last model call made none like it. */
function observed(chat: ChatStep | undefined, event: TrajectoryEvent): boolean {
  if (chat === undefined) return false;
  const answered = new Set(chat.results.map(({ source_call_id: id }) => id));
  const left = chat.calls.filter((call) => !answered.has(call.tool_call_id) && call.function_name === event.name);
  const callId = event.attributes[GEN_AI.toolCallId];
  const input = canonicalJson(promptOf(event)['input'] ?? {});
  const call =
    left.find((one) => one.tool_call_id === callId) ??
    left.find((one) => canonicalJson(one.arguments) === input) ??
    // The proxy's own bash is known by its command alone.
    left.find((one) => isJsonObject(one.arguments) && canonicalJson({ command: one.arguments['command'] }) === input);
  if (call === undefined) return false;
  chat.results.push(result(call.tool_call_id, event));
  return true;
}

function chatStep({ event, calls, results }: ChatStep): Draft {
  const blocks = blocksOf(completionOf(event));
  const reasoning = joined(blocks, 'thinking');
  const metrics = metricsOf(event.attributes);
  const model = event.attributes[GEN_AI.requestModel];
  return {
    timestamp: event.end_time,
    source: 'agent',
    ...(typeof model === 'string' ? { model_name: model } : {}),
    message: joined(blocks, 'text'),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(results.length === 0 ? {} : { observation: { results } }),
    ...(metrics === undefined ? {} : { metrics }),
    llm_call_count: 1,
  };
}

/** An action that no recorded call asked for. */
function actionStep(event: TrajectoryEvent): Draft {
  const id = textOf(event.attributes[GEN_AI.toolCallId] ?? event.attributes[PROXY.actionId] ?? 'action');
  const input = promptOf(event)['input'];
  return {
    timestamp: event.end_time,
    source: 'agent',
    message: '',
    tool_calls: [{ tool_call_id: id, function_name: event.name, arguments: isJsonObject(input) ? input : {} }],
    observation: { results: [result(id, event)] },
    llm_call_count: 0,
  };
}

/** None if the last model call said the same. */
function replySteps(turn: TrajectoryEvent, chat: ChatStep | undefined): readonly Draft[] {
  const completion = completionOf(turn);
  const timestamp = turn.end_time;
  if (completion['error'] !== undefined) {
    return [{ timestamp, source: 'system', message: textOf(completion['error']), extra: { status: 'ERROR' } }];
  }
  const message = joined(blocksOf(completion), 'text');
  const said =
    chat === undefined || chat.calls.length > 0 ? undefined : joined(blocksOf(completionOf(chat.event)), 'text');
  return said === message ? [] : [{ timestamp, source: 'agent', message, llm_call_count: 0 }];
}

function result(callId: string, event: TrajectoryEvent): AtifResult {
  const { [PROXY.exitCode]: known, [PROXY.server]: server } = event.attributes;
  const completion = completionOf(event);
  const exitCode = known ?? completion['exit_code'];
  const extra: JsonObject = {
    ...(event.status.status_code === 'ERROR' ? { status: 'ERROR' } : {}),
    ...(exitCode === undefined ? {} : { exit_code: exitCode }),
    ...(server === undefined ? {} : { server }),
  };
  const content = resultText(completion);
  return { source_call_id: callId, content, ...(Object.keys(extra).length === 0 ? {} : { extra }) };
}

function metricsOf(attributes: JsonObject): AtifMetrics | undefined {
  const metrics: AtifMetrics = {
    ...count('prompt_tokens', attributes[GEN_AI.inputTokens]),
    ...count('completion_tokens', attributes[GEN_AI.outputTokens]),
    ...count('cached_tokens', attributes[GEN_AI.cacheReadTokens]),
  };
  return Object.keys(metrics).length === 0 ? undefined : metrics;
}

/** Whole numbers only: the format takes no others. */
function count(name: keyof AtifMetrics, value: Json | undefined): AtifMetrics {
  const number = numberOf(value);
  return Number.isSafeInteger(number) ? { [name]: number } : {};
}

function joined(blocks: readonly JsonObject[], type: 'text' | 'thinking'): string {
  return blocks
    .filter((block) => block['type'] === type)
    .map((block) => textOf(block[type]))
    .join('\n');
}
