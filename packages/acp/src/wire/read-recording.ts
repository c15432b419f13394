import type { AnyMessage } from '@agentclientprotocol/sdk';
import { isFields, kindOf } from './json-rpc.js';
import { HEADER } from './traffic-line.js';
import { RecordingError } from './wire-errors.js';

export type RecordedStep =
  | { readonly kind: 'out' | 'in'; readonly message: AnyMessage; readonly line: number }
  | { readonly kind: 'end' | 'full'; readonly line: number };

/**
 * What was said to and by one child.
 *
 * @throws RecordingError
 */
export function readRecording(text: string, run: number): RecordedStep[] {
  const [header = '', ...lines] = text.split('\n');
  checkHeader(header);
  const steps = lines.flatMap((line, index) => (line.trim() === '' ? [] : stepOf(line, index + 2, run)));
  if (steps.length === 0) throw new RecordingError(`it has no child number ${run}`);
  return steps;
}

function checkHeader(text: string): void {
  const header = fieldsOf(text, 1);
  if (header['format'] !== HEADER.format) throw new RecordingError('its first line is not that of a recording');
  if (header['version'] !== HEADER.version) throw new RecordingError('its version is not known');
}

function stepOf(text: string, line: number, run: number): RecordedStep[] {
  const fields = fieldsOf(text, line);
  if (typeof fields['run'] !== 'number') throw new RecordingError(`line ${line} belongs to no child`);
  // Where there was no room any more, all of them are incomplete.
  if (fields['full'] === true) return [{ kind: 'full', line }];
  if (fields['run'] !== run || 'garbage' in fields) return [];
  if (fields['end'] === true) return [{ kind: 'end', line }];
  const kind = 'out' in fields ? 'out' : 'in';
  const message = fields[kind];
  if (kindOf(message) === undefined) throw new RecordingError(`line ${line} has no message`);
  return [{ kind, message: message as AnyMessage, line }];
}

function fieldsOf(text: string, line: number): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value)) return value;
  } catch {
    // Told below.
  }
  throw new RecordingError(`line ${line} is no JSON object`);
}
