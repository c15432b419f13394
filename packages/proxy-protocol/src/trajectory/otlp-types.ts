/** The parts of OTLP/JSON that a trajectory needs. 64-bit numbers are strings, ids are lowercase hex. */
export type OtlpValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly OtlpValue[] } };

export interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 1 internal, 3 client. */
  readonly kind: 1 | 3;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  /** 0 unset, 2 error. */
  readonly status: { readonly code: 0 | 2; readonly message?: string };
}

export interface OtlpScopeSpans {
  readonly scope: { readonly name: string };
  readonly spans: readonly OtlpSpan[];
}

export interface OtlpTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly OtlpScopeSpans[];
  }[];
}
