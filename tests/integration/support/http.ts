import { randomUUID } from 'node:crypto';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined without a body. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what others wrote; each test looks at what it expects
  readonly body: any;
  /** From question to the end of the answer. */
  readonly ms: number;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Shown as `Authorization: Bearer`. */
  readonly token?: string;
  /** Shown as `Parley-Agreement-Proof`. */
  readonly proof?: string;
  /** Default 30,000. */
  readonly timeoutMs?: number;
}

/** One call as any client of HTTP makes it. Only an answer that is no JSON, or no answer, is an error. */
export async function call(method: string, url: string, options: CallOptions = {}): Promise<Answer> {
  const { body, headers, token, proof, timeoutMs = 30_000 } = options;
  const askedAt = performance.now();
  const response = await fetch(url, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(proof === undefined ? {} : { 'parley-agreement-proof': proof }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await response.text();
  const ms = performance.now() - askedAt;
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text), ms };
}

export const get = (url: string, options?: CallOptions) => call('GET', url, options);
export const post = (url: string, body: unknown, options?: CallOptions) => call('POST', url, { ...options, body });

export interface ManifestFields {
  readonly agent_id: string;
  readonly name?: string;
  readonly endpoint?: string;
  readonly capabilities?: readonly string[];
  readonly ttl_seconds?: number;
}

/** A registration of somebody that does not exist: nothing listens at its endpoint. */
export function manifest(fields: ManifestFields): object {
  return { name: fields.agent_id, endpoint: 'http://127.0.0.1:9', capabilities: ['probe'], ...fields };
}

/** The owner token that {@link register} shows. */
export const tokenOf = (agentId: string): string => `owner-of-${agentId}-0123456789abcdef`;

export function register(registryUrl: string, fields: ManifestFields): Promise<Answer> {
  return post(`${registryUrl}/register`, manifest(fields), { token: tokenOf(fields.agent_id) });
}

export function renew(registryUrl: string, agentId: string): Promise<Answer> {
  return call('PUT', `${registryUrl}/agents/${agentId}/lease`, { token: tokenOf(agentId) });
}

export function deregister(registryUrl: string, agentId: string): Promise<Answer> {
  return call('DELETE', `${registryUrl}/agents/${agentId}`, { token: tokenOf(agentId) });
}

/** The ids that a discovery answers, in the order of ids. */
export async function discover(registryUrl: string, ...capabilities: string[]): Promise<string[]> {
  const { status, body } = await get(`${registryUrl}/discover?capabilities=${capabilities.join(',')}&limit=1000`);
  if (status !== 200) throw new Error(`discover answered ${String(status)}: ${JSON.stringify(body)}`);
  return (body.agents as { agent_id: string }[]).map(({ agent_id }) => agent_id);
}

/** A proposal of the plain protocol: no proof_hash, so the agreement is active at once and its proof is answered. */
export function propose(
  endpoint: string,
  fields: { readonly agent_id: string; readonly capabilities: readonly string[] } & Readonly<Record<string, unknown>>,
): Promise<Answer> {
  return post(`${endpoint}/negotiate`, { session_id: randomUUID(), parameters: {}, ...fields });
}

/** That nothing was carried out because the store is away, told soon, as a problem, and that it is worth another try. */
export function expectUnavailable(answer: Answer): void {
  expect([answer.status, answer.body.code]).toEqual([503, 'store_unavailable']);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(answer.headers.get('content-type')).toContain('application/problem+json');
  expect(answer.ms).toBeLessThan(2_000);
}
