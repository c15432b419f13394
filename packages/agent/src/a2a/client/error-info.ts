import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import type { FieldError } from '@parley/service-kit';

/** What the details of an error say, whichever wire they came over. */
export interface ErrorInfo {
  /** Of a `google.rpc.ErrorInfo`: capitals. */
  readonly reason: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Of a `google.rpc.BadRequest`. */
  readonly fields: readonly FieldError[];
  /** Of a `google.rpc.RetryInfo`. */
  readonly retryAfterSeconds?: number;
}

const TYPE = 'type.googleapis.com/google.rpc.';

/** Of the `details` of a `google.rpc.Status` in JSON, or the `data` of a JSON-RPC error; undefined without an ErrorInfo. */
export function errorInfoOf(details: unknown): ErrorInfo | undefined {
  if (!Array.isArray(details)) return undefined;
  const find = (name: string): Readonly<Record<string, unknown>> | undefined =>
    (details as unknown[]).filter(isObject).find((detail) => detail['@type'] === `${TYPE}${name}`);
  const info = find('ErrorInfo');
  if (typeof info?.['reason'] !== 'string') return undefined;
  const violations = find('BadRequest')?.['fieldViolations'];
  const delay = /^(\d{1,6}(?:\.\d{1,9})?)s$/u.exec(String(find('RetryInfo')?.['retryDelay']))?.[1];
  return {
    reason: info['reason'],
    metadata: texts(info['metadata']),
    fields: Array.isArray(violations) ? violations.filter(isObject).map(violation) : [],
    ...(delay === undefined ? {} : { retryAfterSeconds: Number(delay) }),
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function texts(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
}

function violation({ field, description }: Readonly<Record<string, unknown>>): FieldError {
  return {
    path: typeof field === 'string' ? field : '',
    message: typeof description === 'string' ? description : 'not valid',
  };
}

/** The same out of the trailer `grpc-status-details-bin`. */
export function errorInfoOfStatus(bytes: Uint8Array): ErrorInfo | undefined {
  try {
    const details = new Map(
      (fieldsOf(bytes).get(3) ?? []).map((detail) => {
        const any = fieldsOf(detail);
        return [textOf(any, 1), fieldsOf(any.get(2)?.[0] ?? new Uint8Array())] as const;
      }),
    );
    const info = details.get(`${TYPE}ErrorInfo`);
    if (info === undefined) return undefined;
    const violations = (details.get(`${TYPE}BadRequest`)?.get(1) ?? []).map(fieldsOf);
    const delay = details.get(`${TYPE}RetryInfo`)?.get(1)?.[0];
    const seconds = delay === undefined ? undefined : secondsOf(delay);
    return {
      reason: textOf(info, 1),
      metadata: Object.fromEntries((info.get(3) ?? []).map(fieldsOf).map((pair) => [textOf(pair, 1), textOf(pair, 2)])),
      fields: violations.map((one) => ({ path: textOf(one, 1), message: textOf(one, 2) })),
      ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
    };
  } catch {
    // A trailer of another form says nothing; the status itself still counts.
    return undefined;
  }
}

type Fields = ReadonlyMap<number, readonly Uint8Array[]>;

/** The length-delimited fields of a message: almost all that is needed of these few. */
function fieldsOf(bytes: Uint8Array): Fields {
  const fields = new Map<number, Uint8Array[]>();
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type !== WireType.LengthDelimited) {
      reader.skip(type);
      continue;
    }
    const values = fields.get(number) ?? [];
    values.push(reader.bytes());
    fields.set(number, values);
  }
  return fields;
}

/** Of a google.protobuf.Duration. */
function secondsOf(bytes: Uint8Array): number | undefined {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === 1) return Number(reader.int64());
    reader.skip(type);
  }
  return undefined;
}

function textOf(fields: Fields, number: number): string {
  return new TextDecoder().decode(fields.get(number)?.[0] ?? new Uint8Array());
}
