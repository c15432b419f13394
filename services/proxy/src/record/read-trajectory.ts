import type { TrajectoryEvent } from '@parley/proxy-protocol';
import { Refusal, type Json, type JsonObject } from '../domain/facts.js';
import type { TrajectoryPage, TrajectoryState, TrajectorySubject } from './recorder-types.js';
import type { TaskRecord } from './task-record.js';
import type { TrajectoryStore } from './trajectory-store.js';

/** Of one page, at most; its first event is always on it. */
const MAX_PAGE_EVENTS = 1_000;
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** @throws Refusal 404 for a task that has not ended with something on record, or an unknown context. */
export function wholeTrajectory(store: TrajectoryStore, subject: TrajectorySubject): readonly JsonObject[] {
  if ('taskId' in subject) {
    const record = store.task(subject.taskId);
    if (record?.isEnded === true && record.events.length > 0) return wire(record.events);
    throw new Refusal(404, `No completed trajectory available for task '${subject.taskId}'`);
  }
  return wire(contextRecords(store, subject.contextId).flatMap(({ events }) => events));
}

/** @throws Refusal 404, or 400 if `after` is past the end. */
export function trajectoryPage(
  store: TrajectoryStore,
  subject: TrajectorySubject,
  { after, limit }: { readonly after: number; readonly limit: number },
): TrajectoryPage {
  const records = 'taskId' in subject ? [taskRecord(store, subject.taskId)] : contextRecords(store, subject.contextId);
  const total = records.reduce((sum, { events }) => sum + events.length, 0);
  if (after > total) throw new Refusal(400, `after=${String(after)} is past the trajectory's ${String(total)} events`);
  const events = pageOf(records, after, Math.min(limit, MAX_PAGE_EVENTS));
  const shown = records.find(({ isEnded }) => !isEnded) ?? records.at(-1);
  const next = after + events.length;
  return {
    context_id: shown?.submitted.contextId ?? '',
    task_id: shown?.submitted.taskId ?? '',
    state: stateOf(records),
    format: records.findLast(({ format }) => format !== null)?.format ?? null,
    events: wire(events),
    next,
    has_more: next < total,
  };
}

function taskRecord(store: TrajectoryStore, taskId: string): TaskRecord {
  const record = store.task(taskId);
  if (record === undefined) throw new Refusal(404, `Unknown task '${taskId}'`);
  return record;
}

function contextRecords(store: TrajectoryStore, contextId: string): readonly TaskRecord[] {
  const records = store.context(contextId);
  if (records === undefined) throw new Refusal(404, `Unknown context '${contextId}'`);
  return records;
}

function stateOf(records: readonly TaskRecord[]): TrajectoryState {
  const states = records.map(({ state }) => state);
  for (const unfinished of ['running', 'pending'] as const) {
    if (states.includes(unfinished)) return unfinished;
  }
  return states.at(-1) ?? 'pending';
}

function pageOf(records: readonly TaskRecord[], after: number, maxEvents: number): readonly TrajectoryEvent[] {
  const page: TrajectoryEvent[] = [];
  let bytes = 0;
  let offset = 0;
  for (const { events, sizes } of records) {
    for (let index = Math.max(after - offset, 0); index < events.length; index += 1) {
      const event = events[index];
      bytes += sizes[index] ?? 0;
      if (event === undefined || page.length >= maxEvents || (bytes > MAX_PAGE_BYTES && page.length > 0)) return page;
      page.push(event);
    }
    offset += events.length;
  }
  return page;
}

/** Events are JSON by what they are made of; the compiler cannot see it in an interface. */
function wire(events: readonly TrajectoryEvent[]): readonly (JsonObject & Json)[] {
  return events as unknown as readonly JsonObject[];
}
