import type { ToolCall } from '@parley/harness';
import { neutralise, neutraliseLine } from './neutralise.js';
import { truncate } from './text-width.js';

const MAX_VALUE_WIDTH = 60;
const MAX_ARGUMENTS_WIDTH = 120;
/** Longer arguments are not parsed for one line of display. */
const MAX_PARSED_CHARS = 200_000;

/** A call's arguments in a few words on one line: the value if there is one only, else `name=value` each. */
export function shortArguments(call: Pick<ToolCall, 'arguments'>): string {
  const parsed = parseObject(call.arguments);
  if (parsed === undefined) return truncate(neutraliseLine(call.arguments), MAX_ARGUMENTS_WIDTH);
  const entries = Object.entries(parsed);
  const [first] = entries;
  if (entries.length === 1 && first !== undefined) return truncate(oneLine(first[1]), MAX_ARGUMENTS_WIDTH);
  const named = entries.map(([name, value]) => `${neutraliseLine(name)}=${truncate(oneLine(value), MAX_VALUE_WIDTH)}`);
  return truncate(named.join(' '), MAX_ARGUMENTS_WIDTH);
}

/** Every argument in full, for somebody who has to decide about them: `name: value`, line ends kept. */
export function fullArguments(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${neutraliseLine(name)}: ${indentRest(neutralise(asText(value)))}`)
    .join('\n');
}

function oneLine(value: unknown): string {
  return neutraliseLine(asText(value).slice(0, 1000));
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function indentRest(value: string): string {
  return value.replaceAll('\n', '\n  ');
}

/** The object that a text stands for, if it does. */
export function parseObject(json: string): Readonly<Record<string, unknown>> | undefined {
  if (!json.trimStart().startsWith('{') || json.length > MAX_PARSED_CHARS) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
