import { Refusal, type Voice } from './voice.js';

interface WireCodes {
  readonly 'JSON-RPC': number;
  readonly 'HTTP+JSON': number;
  readonly gRPC: string;
}

/** What each wire says of a refusal; 1.0 names it in the ErrorInfo too. */
const REFUSALS = {
  TASK_NOT_FOUND: { 'JSON-RPC': -32_001, 'HTTP+JSON': 404, gRPC: 'NOT_FOUND' },
  TASK_NOT_CANCELABLE: { 'JSON-RPC': -32_002, 'HTTP+JSON': 400, gRPC: 'FAILED_PRECONDITION' },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { 'JSON-RPC': -32_003, 'HTTP+JSON': 400, gRPC: 'FAILED_PRECONDITION' },
  UNSUPPORTED_OPERATION: { 'JSON-RPC': -32_004, 'HTTP+JSON': 400, gRPC: 'FAILED_PRECONDITION' },
  CONTENT_TYPE_NOT_SUPPORTED: { 'JSON-RPC': -32_005, 'HTTP+JSON': 400, gRPC: 'INVALID_ARGUMENT' },
  INVALID_AGENT_RESPONSE: { 'JSON-RPC': -32_006, 'HTTP+JSON': 500, gRPC: 'INTERNAL' },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: { 'JSON-RPC': -32_007, 'HTTP+JSON': 400, gRPC: 'FAILED_PRECONDITION' },
  EXTENSION_SUPPORT_REQUIRED: { 'JSON-RPC': -32_008, 'HTTP+JSON': 400, gRPC: 'FAILED_PRECONDITION' },
  VERSION_NOT_SUPPORTED: { 'JSON-RPC': -32_009, 'HTTP+JSON': 400, gRPC: 'FAILED_PRECONDITION' },
  INVALID_PARAMS: { 'JSON-RPC': -32_602, 'HTTP+JSON': 400, gRPC: 'INVALID_ARGUMENT' },
} as const satisfies Record<string, WireCodes>;

type RefusalReason = keyof typeof REFUSALS;

/** Fails unless the call is refused for this reason, in the words of its wire. */
export async function expectRefusal(voice: Voice, reason: RefusalReason, call: Promise<unknown>): Promise<void> {
  const refusal = await call.then(
    (answer) => new Error(`accepted: ${JSON.stringify(answer).slice(0, 200)}`),
    (error: unknown) => error,
  );
  if (!(refusal instanceof Refusal)) throw refusal;
  const said = { code: refusal.code, ...(voice.version === '1.0' ? info(refusal) : {}) };
  const wanted = { code: REFUSALS[reason][voice.binding], ...(voice.version === '1.0' ? infoOf(reason) : {}) };
  expect(said).toEqual(wanted);
  expect(refusal.message).not.toBe('');
}

const info = ({ reason, domain }: Refusal) => ({ reason, domain });

const infoOf = (reason: RefusalReason) => ({ reason, domain: 'a2a-protocol.org' });
