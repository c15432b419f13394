import { statusOf } from '../src/enums.js';
import type { AgentEvent, AgentEventPayload } from '../src/events.js';
import type { Message, ToolCall } from '../src/messages.js';
import type { AgentRunResult } from '../src/result.js';

/** What a run did is not what a run may do. */
export class InvariantViolation extends Error {
  override readonly name = 'InvariantViolation';
}

export interface CheckOptions {
  /** What the journal adds up to. It must be the live history, or a beginning of it if the journal failed. */
  readonly restored?: readonly Message[];
}

/**
 * Checks the events, the history and the result of one run against each other. Independent of the code that makes
 * them: it knows the rules only.
 *
 * @throws InvariantViolation naming the first rule that is broken.
 */
export function checkRun(
  events: readonly AgentEvent[],
  history: readonly Message[],
  result: AgentRunResult,
  options: CheckOptions = {},
): void {
  checkEnvelopes(events, result);
  checkEnds(events, result);
  checkTurns(events, result);
  checkCalls(events, history);
  checkCompactions(events);
  checkHistory(history);
  checkResult(result);
  if (options.restored !== undefined) checkRestored(options.restored, history, result);
}

/** Checks all runs among the events of one agent, given the results by run id. */
export function checkRuns(
  events: readonly AgentEvent[],
  history: readonly Message[],
  results: readonly AgentRunResult[],
  options: CheckOptions = {},
): void {
  for (const result of results) {
    const own = events.filter((event) => event.runId === result.runId);
    const isLast = result === results.at(-1);
    checkRun(own, history, result, isLast ? options : {});
  }
}

/** Each call id once, each call with exactly one result, in source order, before anything else is said. */
export function checkHistory(history: readonly Message[]): void {
  const seen = new Set<string>();
  let open: readonly ToolCall[] = [];
  for (const message of history) {
    if (message.role === 'tool') {
      const [expected, ...rest] = open;
      need(expected !== undefined, `the result of ${message.toolCallId} belongs to no call`);
      need(expected.id === message.toolCallId, `the result of ${message.toolCallId} is out of order`);
      open = rest;
      continue;
    }
    need(open.length === 0, `a call has no result: ${ids(open)}`);
    if (message.role !== 'assistant') continue;
    for (const call of message.toolCalls) {
      need(call.id !== '', 'a call has no id');
      need(!seen.has(call.id), `the call id ${call.id} is there twice`);
      seen.add(call.id);
    }
    open = message.toolCalls;
  }
  need(open.length === 0, `a call has no result: ${ids(open)}`);
}

function checkEnvelopes(events: readonly AgentEvent[], result: AgentRunResult): void {
  need(events.length > 0, 'the run has no events');
  events.forEach((event, index) => {
    need(event.sequence === index + 1, `event ${String(index + 1)} has the number ${String(event.sequence)}`);
    need(event.runId === result.runId, `an event carries the run id ${event.runId}`);
    need(event.agentId === events[0]?.agentId, `an event carries the agent id ${event.agentId}`);
  });
}

function checkEnds(events: readonly AgentEvent[], result: AgentRunResult): void {
  const kinds = events.map(({ payload }) => payload.kind);
  need(kinds[0] === 'agent_started' || kinds[0] === 'agent_continued', `the run begins with ${String(kinds[0])}`);
  need(
    kinds.slice(1).every((kind) => kind !== 'agent_started' && kind !== 'agent_continued'),
    'the run begins twice',
  );
  need(kinds.indexOf('agent_finished') === kinds.length - 1, 'agent_finished is not the one last event');
  const last = events.at(-1)?.payload;
  need(last?.kind === 'agent_finished' && last.result === result, 'agent_finished carries another result');
  const lastTurn = kinds.lastIndexOf('turn_completed');
  const closing = kinds.slice(lastTurn + 1, -1);
  const first = lastTurn < 0 ? closing.slice(1) : closing;
  need(
    first.every((kind) => kind === 'steering_discarded'),
    `events between the last turn and the end: ${first.join()}`,
  );
  const discarded = kinds.indexOf('steering_discarded');
  need(discarded < 0 || discarded > lastTurn, 'steering is discarded before the last turn is over');
  for (const { payload } of events) {
    if (payload.kind !== 'steering_discarded') continue;
    const known = payload.reason === result.stopReason || result.stopReason === 'persistence_failed';
    need(known, `steering is discarded for ${payload.reason}`);
  }
}

function checkTurns(events: readonly AgentEvent[], result: AgentRunResult): void {
  let turn = 0;
  let isOpen = false;
  let isAnswered = false;
  for (const { payload } of events) {
    if (payload.kind === 'turn_started') {
      need(!isOpen, `turn ${String(turn)} is not completed`);
      need(payload.turn === turn + 1, `turn ${String(payload.turn)} follows turn ${String(turn)}`);
      turn = payload.turn;
      isOpen = true;
      isAnswered = false;
      continue;
    }
    if (isOutsideOfTurns(payload)) {
      need(!isOpen, `${payload.kind} comes inside a turn`);
      continue;
    }
    need(isOpen, `${payload.kind} comes outside of a turn`);
    if ('turn' in payload) need(payload.turn === turn, `${payload.kind} names turn ${String(payload.turn)}`);
    if (payload.kind === 'steering_applied') need(payload.targetTurn === turn, 'steering names another turn');
    need(payload.kind === 'turn_completed' || isAnswered === isAfterAnswer(payload), `${payload.kind} is out of place`);
    if (payload.kind === 'message_completed') isAnswered = true;
    if (payload.kind === 'turn_completed') isOpen = false;
  }
  need(!isOpen, `turn ${String(turn)} is not completed`);
  need(result.turns === turn, `the result counts ${String(result.turns)} turns of ${String(turn)}`);
}

function isOutsideOfTurns({ kind }: AgentEventPayload): boolean {
  return ['agent_started', 'agent_continued', 'agent_finished', 'steering_discarded'].includes(kind);
}

function isAfterAnswer({ kind }: AgentEventPayload): boolean {
  return ['tool_started', 'tool_progressed', 'tool_completed'].includes(kind);
}

function checkCalls(events: readonly AgentEvent[], history: readonly Message[]): void {
  const stored = new Map(history.flatMap((each) => (each.role === 'tool' ? [[each.toolCallId, each] as const] : [])));
  let calls: readonly ToolCall[] = [];
  let started: string[] = [];
  let completed: string[] = [];
  for (const { payload } of events) {
    switch (payload.kind) {
      case 'message_completed':
        calls = payload.message.toolCalls;
        started = [];
        completed = [];
        break;
      case 'tool_started':
        started.push(payload.toolCall.id);
        break;
      case 'tool_progressed': {
        const { id } = payload.toolCall;
        need(started.includes(id) && !completed.includes(id), `progress of ${id} outside of its call`);
        break;
      }
      case 'tool_completed': {
        const { id } = payload.toolCall;
        need(started.includes(id), `${id} is completed and was never started`);
        need(payload.result.message.toolCallId === id, `the result of ${id} names another call`);
        const kept = stored.get(id);
        need(kept === undefined || kept.content === payload.result.message.content, `the result of ${id} is another`);
        completed.push(id);
        break;
      }
      case 'turn_completed': {
        const expected = ids(calls);
        need(started.join() === expected, `calls ${expected}, but started ${started.join()}`);
        need(completed.join() === expected, `calls ${expected}, but completed ${completed.join()}`);
        calls = [];
        started = [];
        completed = [];
        break;
      }
      default:
    }
  }
}

function checkCompactions(events: readonly AgentEvent[]): void {
  let open: string | null = null;
  for (const { payload } of events) {
    if (payload.kind === 'compaction_started') {
      need(open === null, 'a compaction begins inside another');
      open = payload.request.operationId;
    } else if (payload.kind === 'compaction_completed' || payload.kind === 'compaction_failed') {
      need(open === payload.result.operationId, 'a compaction ends that did not begin');
      open = null;
    } else {
      need(open === null, `${payload.kind} comes inside a compaction`);
    }
  }
}

function checkResult(result: AgentRunResult): void {
  need(result.status === statusOf(result.stopReason), `${result.stopReason} with status ${result.status}`);
  need(
    (result.status === 'completed') === (result.error === null),
    `status ${result.status}, error ${String(result.error)}`,
  );
  need(result.usage.reportedRequestCount <= result.usage.requestCount, 'more reports than requests');
}

function checkRestored(restored: readonly Message[], history: readonly Message[], result: AgentRunResult): void {
  const failed = result.stopReason === 'persistence_failed';
  const live = failed ? history.slice(0, restored.length) : history;
  need(JSON.stringify(restored) === JSON.stringify(live), 'the restored history is not the live one');
  if (!failed) return;
  const extra = history.slice(restored.length);
  need(
    extra.every((message) => message.role === 'tool'),
    'the live history holds what was not recorded',
  );
}

function ids(calls: readonly ToolCall[]): string {
  return calls.map(({ id }) => id).join();
}

function need(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new InvariantViolation(otherwise);
}
