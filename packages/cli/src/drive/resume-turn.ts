import type { Message, ToolCall } from '@parley/harness';
import type { Json, JsonObject, PlayedTurn, ProxyAction } from '@parley/proxy-protocol';
import type { ProxyPorts } from '../proxy-ports.js';
import { type RecordedTurnEvent, readRecordedEvents } from '../trajectory/recorded-events.js';
import type { TurnTools } from './turn-tools.js';

export interface ResumedTurn {
  /** What was said and done after the prompt. */
  readonly messages: readonly Message[];
  /** The answer that was on record already, if only the reply was missing. */
  readonly answer?: string;
}

const LOST = 'The result is not known: the call ran before the work was interrupted.';
const NOT_OFFERED = 'There is no such tool.';

interface OpenCall {
  readonly call: ToolCall;
  /** As the proxy knows it. */
  readonly name: string;
  readonly input: JsonObject;
  result: string | undefined;
}

/**
 * Finds out how far somebody has played a turn: what is on record becomes the history, calls that were recorded but have
 * not run are run now, and those that still run are waited for.
 */
export async function resumeTurn(played: PlayedTurn, tools: TurnTools, proxy: ProxyPorts): Promise<ResumedTurn> {
  const events = readRecordedEvents(await recordOf(played, proxy), proxy.parseExact);
  const messages: Message[] = [];
  let open: OpenCall[] = [];
  for (const event of events) {
    if (event.kind === 'action') settle(open, event);
    if (event.kind !== 'chat') continue;
    close(messages, open);
    open = openCalls(event, messages.length, tools);
    messages.push({ role: 'assistant', content: event.text, toolCalls: open.map(({ call }) => call) });
  }
  for (const one of open) one.result ??= await runNow(one, played, tools, proxy);
  close(messages, open);
  const last = messages.at(-1);
  const isAnswer = last?.role === 'assistant' && last.content !== null;
  return isAnswer ? { messages, answer: last.content } : { messages };
}

async function recordOf(played: PlayedTurn, proxy: ProxyPorts): Promise<readonly JsonObject[]> {
  try {
    return await played.events();
  } catch (error) {
    // Nothing is on record, or it is not for us to read: then the turn is played from its beginning.
    const isNone = error instanceof proxy.ProxyFailed && [401, 403, 404].includes(error.status);
    if (!isNone && !(error instanceof proxy.ProxyRefused)) throw error;
    return [];
  }
}

function openCalls(event: RecordedTurnEvent & { readonly kind: 'chat' }, at: number, tools: TurnTools): OpenCall[] {
  return event.calls.map(({ id, name, input }, index) => ({
    call: { id: id ?? `resumed_${at}_${index}`, name: tools.nameOf(name), arguments: JSON.stringify(input) },
    name,
    input,
    result: undefined,
  }));
}

/** Where an event does not tell which call it was, the first one open that is equal is it. */
function settle(open: readonly OpenCall[], event: RecordedTurnEvent & { readonly kind: 'action' }): void {
  const unknown = open.filter(({ result }) => result === undefined);
  const same = unknown.filter(({ name }) => name === event.name);
  const found =
    unknown.find(({ call }) => call.id === event.callId) ??
    same.find(({ input }) => canonical(input) === canonical(event.input)) ??
    same[0];
  if (found !== undefined) found.result = event.text;
}

function close(messages: Message[], open: readonly OpenCall[]): void {
  for (const { call, result } of open) messages.push({ role: 'tool', toolCallId: call.id, content: result ?? LOST });
}

async function runNow(one: OpenCall, played: PlayedTurn, tools: TurnTools, proxy: ProxyPorts): Promise<string> {
  if (tools.toolOf(one.call.name) === undefined) return NOT_OFFERED;
  try {
    const action = tools.actionOf(one.call.name, one.input);
    const started = played.turn.actions.find((known) => isSame(known.action, action));
    const result = await (started === undefined ? played.act(action) : played.result(started.actionId));
    return proxy.describeResult(result).text;
  } catch (error) {
    // 409: it ran already, under an id that nobody knows any more.
    if (error instanceof proxy.ProxyRefused) return LOST;
    throw error;
  }
}

function isSame(one: ProxyAction, other: ProxyAction): boolean {
  if (one.kind === 'bash') return other.kind === 'bash' && one.command === other.command;
  return other.kind === 'tool' && one.name === other.name && canonical(one.arguments) === canonical(other.arguments);
}

/** The same text for values that are the same, in whatever order their members stand. */
function canonical(value: Json): string {
  return JSON.stringify(value, (_name, one: unknown) => {
    if (typeof one !== 'object' || one === null || Array.isArray(one) || 'rawJSON' in one) return one;
    return Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
