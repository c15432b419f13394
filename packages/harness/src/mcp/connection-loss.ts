import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { McpDelivery } from './mcp-errors.js';
import { NotDeliveredError } from './stdio-server-transport.js';

const CONNECTION_CLOSED: number = ErrorCode.ConnectionClosed;

/** Failures of a socket before a byte of the request was sent. */
const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** How servers and libraries say that a session is over; the status or code that goes with it differs. */
const SESSION_OVER =
  /session\b.{0,20}\b(?:terminated|expired|not found|unknown|closed|invalid)|(?:no valid|invalid|unknown) session/iu;

/** Codes that come with those words; in an answer with another code they are about something of the server's own. */
const SESSION_CODES = new Set([-32_600, 32_600, -32_000, -32_001]);

/** If the connection to the server is to blame: how far the call got. Undefined for an answer of the server itself. */
export function deliveryAfterLoss(error: unknown): McpDelivery | undefined {
  if (error instanceof NotDeliveredError) return 'none';
  if (error instanceof StreamableHTTPError) return deliveryAfterStatus(error);
  if (error instanceof McpError) return deliveryAfterProtocolError(error);
  return deliveryAfterOther(error);
}

function deliveryAfterStatus(error: StreamableHTTPError): McpDelivery | undefined {
  // A session that the server does not know is refused before anything is done.
  if (error.code === 404 || (error.code === 400 && SESSION_OVER.test(error.message))) return 'none';
  if (error.code === 503) return 'unavailable';
  if (error.code === 502 || error.code === 504) return 'unknown';
  return undefined;
}

function deliveryAfterProtocolError(error: McpError): McpDelivery | undefined {
  // The number is also used by servers for errors of their own, so the words are looked at first.
  if (SESSION_CODES.has(error.code) && SESSION_OVER.test(error.message)) return 'none';
  const closed = error.code === CONNECTION_CLOSED && /connection closed/iu.test(error.message);
  return closed ? 'unknown' : undefined;
}

/** Errors of fetch are told by what they say: they may come from another realm, where instanceof does not reach. */
function deliveryAfterOther(error: unknown): McpDelivery | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { name, message, cause } = error as {
    readonly name?: unknown;
    readonly message?: unknown;
    readonly cause?: unknown;
  };
  if (message === 'Not connected') return 'none';
  if (name === 'AbortError') return 'unknown';
  if (message !== 'fetch failed' && message !== 'terminated') return undefined;
  return NEVER_CONNECTED.has(codeOf(cause)) ? 'none' : 'unknown';
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  // A host with several addresses fails with one error for each.
  if ('errors' in error && Array.isArray(error.errors)) return codeOf(error.errors[0]);
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
