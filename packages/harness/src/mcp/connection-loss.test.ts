import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { deliveryAfterLoss } from './connection-loss.js';
import { NotDeliveredError } from './stdio-server-transport.js';

const fetchFailed = (cause: unknown): Error => new TypeError('fetch failed', { cause });

describe('a failed call', () => {
  it.each([
    ['a line that was not taken', new NotDeliveredError()],
    ['no connection', new Error('Not connected')],
    ['a session that the server does not know', new StreamableHTTPError(404, 'Error POSTing to endpoint: not found')],
    [
      'a session that has ended, with another status',
      new StreamableHTTPError(400, 'Bad Request: No valid session ID provided'),
    ],
    ['a session that has ended, in the words of the protocol', new McpError(32_600, 'Session terminated')],
    ['a session that was not found', new McpError(-32_001, 'Session not found')],
    ['a refused connection', fetchFailed(Object.assign(new Error(), { code: 'ECONNREFUSED' }))],
    [
      'a host with two addresses',
      fetchFailed(new AggregateError([Object.assign(new Error(), { code: 'ECONNREFUSED' })])),
    ],
  ])('surely did not reach its server after %s', (_what, error) => {
    expect(deliveryAfterLoss(error)).toBe('none');
  });

  it.each([
    ['a closed connection', new McpError(-32_000, 'Connection closed')],
    ['a reset', fetchFailed(Object.assign(new Error(), { code: 'ECONNRESET' }))],
    ['an answer that broke off', new TypeError('terminated')],
    ['a gateway without an answer', new StreamableHTTPError(502, 'bad gateway')],
  ])('may have been carried out after %s', (_what, error) => {
    expect(deliveryAfterLoss(error)).toBe('unknown');
  });

  it('was turned away by a server that is busy', () => {
    expect(deliveryAfterLoss(new StreamableHTTPError(503, 'busy'))).toBe('unavailable');
  });

  it.each([
    ['invalid arguments', new McpError(-32_602, 'session id is invalid')],
    ['a tool of sessions that lost one', new McpError(-32_603, 'browser session not found')],
    ['an error of the server with the number of a closed connection', new McpError(-32_000, 'database locked')],
    ['missing rights', new StreamableHTTPError(401, 'unauthorized')],
    ['a mistake here', new TypeError('x is not a function')],
    ['something thrown', 'text'],
  ])('has an answer, and needs no other connection, after %s', (_what, error) => {
    expect(deliveryAfterLoss(error)).toBeUndefined();
  });
});
