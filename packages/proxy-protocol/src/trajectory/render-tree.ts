import { GEN_AI, PROXY } from './attribute-names.js';
import { completionOf, textOf } from './event-content.js';
import { eventKind, turnsOf } from './event-kind.js';
import { unixNanos } from './event-time.js';
import type { TrajectoryEvent } from './trajectory-event.js';

const MAX_NAME_LENGTH = 60;

/**
 * A trajectory as a tree for a terminal: each turn, and below it its recorded calls and actions in order of ending, with
 * how long they took, whether they failed, exit codes and usage. Control characters of names are not passed on.
 */
export function renderTree(events: readonly TrajectoryEvent[]): string {
  return turnsOf(events)
    .map((turn) => renderTurn(turn))
    .join('\n');
}

function renderTurn(events: readonly TrajectoryEvent[]): string {
  const last = events.at(-1);
  const isClosed = last !== undefined && eventKind(last) === 'turn';
  const below = isClosed ? events.slice(0, -1) : events;
  const head = isClosed ? line('turn', last) : 'turn  (open)';
  return [
    head,
    ...below.map((event, index) => `${index === below.length - 1 ? '└─' : '├─'} ${line(title(event), event)}`),
  ].join('\n');
}

function title(event: TrajectoryEvent): string {
  const model = event.attributes[GEN_AI.requestModel];
  const server = event.attributes[PROXY.server];
  if (eventKind(event) === 'chat') return model === undefined ? 'chat' : `chat ${shown(textOf(model))}`;
  return server === undefined ? shown(event.name) : `${shown(event.name)} @${shown(textOf(server))}`;
}

function line(name: string, event: TrajectoryEvent): string {
  const parts = [name, duration(event), event.status.status_code === 'ERROR' ? 'ERROR' : 'ok', ...details(event)];
  return parts.join('  ');
}

function details(event: TrajectoryEvent): readonly string[] {
  const { attributes } = event;
  const exitCode =
    attributes[PROXY.exitCode] ?? (eventKind(event) === 'action' ? completionOf(event)['exit_code'] : undefined);
  const input = attributes[GEN_AI.inputTokens];
  const output = attributes[GEN_AI.outputTokens];
  const cached = attributes[GEN_AI.cacheReadTokens];
  const errorType = attributes[PROXY.errorType];
  return [
    ...(exitCode === undefined || exitCode === null ? [] : [`exit ${textOf(exitCode)}`]),
    ...(attributes[PROXY.timedOut] === true ? ['timed out'] : []),
    ...(errorType === undefined ? [] : [`(${shown(textOf(errorType))})`]),
    ...(input === undefined && output === undefined ? [] : [`${tokens(input)} in / ${tokens(output)} out`]),
    ...(cached === undefined ? [] : [`${tokens(cached)} cached`]),
  ];
}

function tokens(count: unknown): string {
  return count === undefined ? '?' : shown(textOf(count as never));
}

function duration(event: TrajectoryEvent): string {
  const micros = Number((unixNanos(event.end_time) - unixNanos(event.start_time)) / 1_000n);
  if (micros < 1_000_000) return `${(micros / 1_000).toFixed(1)} ms`;
  return `${(micros / 1_000_000).toFixed(2)} s`;
}

/** A record holds what others wrote: it must not drive a terminal or fake a line. */
function shown(text: string): string {
  const safe = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
  return safe.length <= MAX_NAME_LENGTH ? safe : `${safe.slice(0, MAX_NAME_LENGTH - 1).toWellFormed()}…`;
}
