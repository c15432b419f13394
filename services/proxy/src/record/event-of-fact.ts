import { eventTime, GEN_AI, PROXY, type TrajectoryEvent } from '@parley/proxy-protocol';
import type { Fact, Json, JsonObject, TurnEnd } from '../domain/facts.js';
import { asciiJson } from './ascii-json.js';
import { outcomeOf } from './action-outcome.js';
import { providerOf } from './provider-of.js';
import { usageAttributes } from './usage-attributes.js';

type FactOf<K extends Fact['kind']> = Extract<Fact, { readonly kind: K }>;

export type ActionStarted = FactOf<'action_started'>;
export type ActionEnded = FactOf<'action_ended'>;
export type Recorded = FactOf<'recorded'>;
export type TurnSubmitted = FactOf<'turn_submitted'>;
export type TurnClosed = FactOf<'turn_closed'>;

/** What an event says besides its ids and digest. */
export type EventBody = Omit<TrajectoryEvent, 'trace_id' | 'span_id' | 'parent_span_id' | 'hash'>;

/** @param startedAt When the event before it ended. */
export function chatEvent(fact: Recorded, model: string | undefined, startedAt: number): EventBody {
  const provider = model === undefined ? undefined : providerOf(model);
  return {
    name: 'chat',
    ...times(startedAt, fact.at),
    status: { status_code: 'OK' },
    attributes: {
      [GEN_AI.operationName]: 'chat',
      ...ifKnown(GEN_AI.requestModel, model),
      [GEN_AI.completion]: asciiJson({ content: fact.blocks as readonly Json[] }),
      ...usageAttributes(fact.usage),
      ...ifKnown(GEN_AI.providerName, provider),
    },
  };
}

export function actionEvent(started: ActionStarted, ended: ActionEnded): EventBody {
  const { action, call, actionId } = started;
  const { completion, attributes, errorType } = outcomeOf(action, ended);
  return {
    name: action.kind === 'bash' ? 'bash' : action.name,
    ...times(started.at, ended.at),
    status: { status_code: errorType === undefined ? 'OK' : 'ERROR' },
    attributes: {
      // What an action brings along cannot take the place of what the record says itself.
      ...ended.attributes,
      [GEN_AI.operationName]: 'execute_tool',
      [GEN_AI.prompt]: asciiJson({ input: action.kind === 'bash' ? { command: action.command } : action.arguments }),
      [GEN_AI.completion]: asciiJson(completion),
      ...ifKnown(GEN_AI.toolCallId, call?.callId ?? undefined),
      [PROXY.actionId]: actionId,
      ...(action.kind === 'tool' ? { [PROXY.server]: action.server } : {}),
      ...(ended.cause === 'done' ? {} : { [PROXY.actionEnd]: ended.cause }),
      ...attributes,
      ...ifKnown(PROXY.errorType, errorType),
    },
  };
}

/** @param startedAt When the turn opened. */
export function turnEvent(turn: {
  readonly submitted: TurnSubmitted;
  readonly closed: TurnClosed;
  readonly startedAt: number;
  readonly model: string | undefined;
  readonly agentName: string;
}): EventBody {
  const { submitted, closed, startedAt, model, agentName } = turn;
  const { completion, errorType } = endOf(closed.end);
  return {
    name: 'turn',
    ...times(startedAt, closed.at),
    status: { status_code: errorType === undefined ? 'OK' : 'ERROR' },
    attributes: {
      [GEN_AI.operationName]: 'chain',
      ...ifKnown(GEN_AI.requestModel, model),
      [GEN_AI.prompt]: asciiJson({ prompt: submitted.texts.join('\n'), system_prompt: submitted.systemPrompt }),
      [GEN_AI.completion]: asciiJson(completion),
      [GEN_AI.agentName]: agentName,
      [GEN_AI.conversationId]: submitted.contextId,
      [PROXY.taskId]: submitted.taskId,
      [PROXY.toolCallCount]: closed.toolCallCount,
      ...ifKnown(PROXY.callerSpanId, submitted.parentSpanId),
      ...ifKnown(PROXY.errorType, errorType),
    },
  };
}

function endOf(end: TurnEnd): { readonly completion: JsonObject; readonly errorType?: string } {
  switch (end.state) {
    case 'completed':
      return { completion: { content: end.texts.map((text) => ({ type: 'text', text })) } };
    case 'failed':
      return { completion: { error: end.error }, errorType: end.errorCode };
    case 'canceled':
      return { completion: { error: 'the turn was canceled' }, errorType: 'canceled' };
  }
}

function times(start: number, end: number): Pick<EventBody, 'start_time' | 'end_time'> {
  // A clock that was set back must not make a span of negative length.
  return { start_time: eventTime(start), end_time: eventTime(Math.max(start, end)) };
}

function ifKnown(name: string, value: string | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}
