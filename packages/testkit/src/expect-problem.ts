import { connect } from 'node:net';

export interface HttpCase {
  /** What is wrong with it. */
  readonly wrong: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is when text or bytes, else as JSON. */
  readonly body?: unknown;
  /** Where the problem must point to; absent: anywhere. */
  readonly at?: string;
  /** Default 400. */
  readonly status?: number;
}

export interface ProblemAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Sends one bad request. `fetch` refuses some headers and bodies, so what it cannot send goes through `rawRequest`. */
export async function sendCase(
  baseUrl: string,
  { method, path, headers = {}, body }: HttpCase,
): Promise<ProblemAnswer> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(baseUrl + path, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: isRaw ? (body as string) : JSON.stringify(body) }),
    redirect: 'manual',
    signal: AbortSignal.timeout(10_000),
  });
  return { status: response.status, type: response.headers.get('content-type') ?? '', text: await response.text() };
}

/** Everything that must never be in an error's answer, and everything that must. Returns what is wrong, in words. */
export function problemFaults(answer: ProblemAnswer, expected: Pick<HttpCase, 'at' | 'status'>): string[] {
  const faults: string[] = [];
  const { status = 400, at } = expected;
  if (answer.status !== status) faults.push(`status ${String(answer.status)} instead of ${String(status)}`);
  if (!answer.type.startsWith('application/problem+json')) faults.push(`type ${answer.type}`);
  if (/<\s*(?:html|!doctype|pre)/i.test(answer.text)) faults.push('HTML');
  if (/\n\s+at |node_modules|node:internal|\.ts:\d|\.js:\d/.test(answer.text)) faults.push('a stack');
  const problem = parse(answer.text);
  if (problem === undefined) return [...faults, 'no JSON'];
  for (const field of ['type', 'title', 'status', 'code', 'detail', 'request_id']) {
    if (!(field in problem)) faults.push(`no ${field}`);
  }
  if (status === 400 && at !== undefined) {
    const paths = ((problem['errors'] as { path: string }[] | undefined) ?? []).map(({ path }) => path);
    if (!paths.includes(at)) faults.push(`points to [${paths.join(', ')}] instead of ${at === '' ? 'the whole' : at}`);
  }
  return faults;
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Writes bytes to a port and gives back everything that came until the other side closed, or the deadline. */
export function rawRequest(port: number, bytes: string | Uint8Array, timeoutMs = 5_000): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    const finish = (): void => {
      socket.destroy();
      resolve(Buffer.concat(chunks).toString('utf8'));
    };
    socket.setTimeout(timeoutMs, finish);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('close', finish);
    socket.on('error', reject);
    socket.write(bytes);
  });
}
