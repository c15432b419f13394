import { once } from 'node:events';
import { isSpanContextValid, trace } from '@opentelemetry/api';
import { pino, type DestinationStream } from 'pino';
import { redactText } from './redact-text.js';
import { redactFields } from './redact.js';
import { serializeError } from './serialize-error.js';

export type LogFields = Readonly<Record<string, unknown>>;

/**
 * What every room may log through. `step` is one line of the protocol's trace log: in text mode
 * it reads `[AGENT_A] 10:00:02.894 Handshake completed with agent_B`, in JSON mode it carries the
 * same words as `msg`, the kind as `step`, and the fields.
 *
 * Levels by expected rate: error - somebody must look; warn - heals by itself, but should be rare;
 * info - one line for each thing a person did or each change of state; debug - the rest.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  step(step: string, message: string, fields?: LogFields): void;
  child(fields: LogFields): Logger;
  /** Resolves when all that was logged is written. Without it, that is always so. */
  flush?(): Promise<void>;
}

export type LogFormat = 'json' | 'text';
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LoggerOptions {
  /** `registry`, `agent_a`; printed in capitals in text mode. */
  readonly service: string;
  /** Default `json`. */
  readonly format?: LogFormat;
  /** Default `info`. */
  readonly level?: LogLevel;
  /** Default: standard output. */
  readonly destination?: DestinationStream;
  /** Milliseconds since the epoch. Default: the clock. */
  readonly now?: () => number;
}

type Write = (level: Exclude<LogLevel, 'silent'>, message: string, fields: LogFields) => void;

class WritingLogger implements Logger {
  readonly #write: Write;
  readonly #fields: LogFields;
  readonly flush: () => Promise<void>;

  constructor(write: Write, fields: LogFields, flush: () => Promise<void>) {
    this.#write = write;
    this.#fields = fields;
    this.flush = flush;
  }

  debug(message: string, fields: LogFields = {}): void {
    this.#write('debug', message, { ...this.#fields, ...fields });
  }
  info(message: string, fields: LogFields = {}): void {
    this.#write('info', message, { ...this.#fields, ...fields });
  }
  warn(message: string, fields: LogFields = {}): void {
    this.#write('warn', message, { ...this.#fields, ...fields });
  }
  error(message: string, fields: LogFields = {}): void {
    this.#write('error', message, { ...this.#fields, ...fields });
  }
  step(step: string, message: string, fields: LogFields = {}): void {
    this.#write('info', message, { ...this.#fields, step, ...fields });
  }
  child(fields: LogFields): Logger {
    return new WritingLogger(this.#write, { ...this.#fields, ...fields }, this.flush);
  }
}

/**
 * A logger that writes one line for each call, JSON or text, with the ids of the span under way.
 * Secrets never reach it: members that hold some (see {@link isSecretName}) are replaced at every depth.
 */
export function createLogger(options: LoggerOptions): Logger {
  const { sink, flush } = options.destination === undefined ? standardOutput() : plainSink(options.destination);
  const now = options.now ?? Date.now;
  const base = pino(
    {
      level: options.level ?? 'info',
      base: { service: options.service },
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      mixin: traceFields,
    },
    options.format === 'text' ? textStream(options.service, sink) : sink,
  );
  const write: Write = (at, message, fields) => {
    if (base.isLevelEnabled(at)) base[at](prepare(fields), redactText(message));
  };
  return new WritingLogger(write, {}, flush);
}

interface Sink {
  readonly sink: DestinationStream;
  readonly flush: () => Promise<void>;
}

/** More than this, unwritten because nobody reads standard output, is dropped. */
const MAX_UNWRITTEN_BYTES = 16 * 1024 * 1024;

/**
 * Written in the background, in order. At the end of the process the library writes what is still waiting, but a
 * line that another thread has in hand comes after that, if at all: whoever ends the process flushes first.
 */
function standardOutput(): Sink {
  const stream = pino.destination({ dest: 1, sync: false, maxLength: MAX_UNWRITTEN_BYTES });
  let unwritten = false;
  stream.on('drain', () => {
    unwritten = false;
  });
  return {
    sink: {
      write: (line) => {
        unwritten = true;
        stream.write(line);
      },
    },
    flush: async () => {
      if (unwritten) await once(stream, 'drain');
    },
  };
}

function plainSink(sink: DestinationStream): Sink {
  return { sink, flush: () => Promise.resolve() };
}

const RESERVED_NAMES = ['level', 'time', 'msg'];

/** What `error` and `err` carry is described as an error, whatever was thrown. */
function prepare(fields: LogFields): Record<string, unknown> {
  const out = redactFields(fields);
  for (const name of RESERVED_NAMES) {
    // Written twice, a name of the line itself would be read as the field.
    if (Object.hasOwn(out, name)) {
      out[`field_${name}`] = out[name];
      Reflect.deleteProperty(out, name);
    }
  }
  for (const name of ['error', 'err']) {
    if (fields[name] !== undefined) out[name] = serializeError(fields[name]);
  }
  return out;
}

function traceFields(): Record<string, string> {
  const span = trace.getActiveSpan()?.spanContext();
  return span === undefined || !isSpanContextValid(span) ? {} : { trace_id: span.traceId, span_id: span.spanId };
}

/** Turns pino's JSON lines, already redacted, into `[SERVICE] HH:MM:SS.mmm message`, the time in UTC. */
function textStream(service: string, sink: DestinationStream): DestinationStream {
  return {
    write(line: string): void {
      const { level, time, msg, actor, step, error } = JSON.parse(line) as Record<string, unknown>;
      const who = capitals(typeof actor === 'string' ? actor : service);
      const mark = step !== undefined || level === 'info' ? '' : `${String(level)}: `;
      sink.write(`[${who}] ${String(time).slice(11, 23)} ${mark}${oneLine(String(msg))}${errorTail(error)}\n`);
    },
  };
}

function capitals(name: string): string {
  return oneLine(name.toUpperCase().replaceAll('-', '_'));
}

/** A message may carry text of others; it must not be able to fake a line or drive a terminal. */
function oneLine(text: string): string {
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (character) => {
    const escape = JSON.stringify(character).slice(1, -1);
    return escape === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : escape;
  });
}

function errorTail(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { message, code, name } = error as Partial<Record<'message' | 'code' | 'name', unknown>>;
  // An AggregateError of a failed connection has a code and no message.
  const text = [message, code, name].find((one) => typeof one === 'string' && one !== '');
  return typeof text === 'string' ? ` (${oneLine(text)})` : '';
}

/** Swallows everything: for tests and for libraries used without a logger. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  step: () => undefined,
  child: () => silentLogger,
};

/** `['translate', 'summarize']`, as the trace log prints lists. */
export function quoteList(names: readonly string[]): string {
  return `[${names.map((name) => `'${name}'`).join(', ')}]`;
}
