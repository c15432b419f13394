import type { JsonObject } from '../domain/facts.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Where spans are sent, and as whose. */
export interface TraceTarget {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Of one request. */
  readonly timeoutMs: number;
  readonly resource: JsonObject;
}

const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * Reads OpenTelemetry's standard variables; undefined where no endpoint is set, or tracing is switched off by
 * OTEL_SDK_DISABLED or OTEL_TRACES_EXPORTER=none.
 *
 * @param identity What the resource says unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES say otherwise.
 * @throws Error for an endpoint that is no http or https URL.
 */
export function readTraceTarget(
  env: Env,
  identity: { readonly serviceName: string; readonly instanceId: string },
): TraceTarget | undefined {
  if (valueOf(env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined;
  if (valueOf(env, 'OTEL_TRACES_EXPORTER')?.toLowerCase() === 'none') return undefined;
  const url = endpointOf(env);
  if (url === undefined) return undefined;
  const timeout = Number(
    valueOf(env, 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT') ?? valueOf(env, 'OTEL_EXPORTER_OTLP_TIMEOUT'),
  );
  const serviceName = valueOf(env, 'OTEL_SERVICE_NAME');
  return {
    url,
    headers: {
      ...readPairs(valueOf(env, 'OTEL_EXPORTER_OTLP_HEADERS')),
      ...readPairs(valueOf(env, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS')),
    },
    timeoutMs: timeout > 0 ? Math.min(timeout, 300_000) : DEFAULT_TIMEOUT_MS,
    resource: {
      'service.name': identity.serviceName,
      'service.instance.id': identity.instanceId,
      ...readPairs(valueOf(env, 'OTEL_RESOURCE_ATTRIBUTES')),
      ...(serviceName === undefined ? {} : { 'service.name': serviceName }),
    },
  };
}

function endpointOf(env: Env): URL | undefined {
  const own = valueOf(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  if (own !== undefined) return httpUrl(own, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  const base = valueOf(env, 'OTEL_EXPORTER_OTLP_ENDPOINT');
  if (base === undefined) return undefined;
  const url = httpUrl(base, 'OTEL_EXPORTER_OTLP_ENDPOINT');
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url;
}

function httpUrl(text: string, name: string): URL {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new Error(`${name} must be an http or https URL`);
  }
  return url;
}

/** `a=b,c=d`, values percent-encoded; what is no pair is left out, as the standard asks. */
function readPairs(text: string | undefined): Readonly<Record<string, string>> {
  const pairs = (text ?? '').split(',').map((pair): [string, string] => {
    const at = pair.indexOf('=');
    return at < 1 ? ['', ''] : [pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())];
  });
  return Object.fromEntries(pairs.filter(([name]) => name !== ''));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function valueOf(env: Env, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === '' ? undefined : value;
}
