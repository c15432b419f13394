import { RequestError } from '@agentclientprotocol/sdk';
import { AcpVersionError } from './acp-errors.js';
import { agentFacts } from './agent-facts.js';
import { describeFailure, isAuthRequired } from './request-failure.js';

describe('what a child says of itself', () => {
  it('is its name, what one can log in with, and whether it closes sessions', () => {
    const answer = {
      protocolVersion: 1,
      agentInfo: { name: 'mock', version: '1' },
      authMethods: [{ id: 'api-key', name: 'API key' }, { id: 'oauth', name: 'oauth' }, { id: 7 }, null],
      agentCapabilities: { sessionCapabilities: { close: {} } },
    };
    expect(agentFacts(answer)).toEqual({
      name: 'mock',
      authMethods: ['api-key (API key)', 'oauth'],
      closesSessions: true,
    });
  });

  it.each([
    {},
    { agentCapabilities: {} },
    { agentInfo: null, authMethods: null, agentCapabilities: null },
    { agentInfo: 7, authMethods: {}, agentCapabilities: { sessionCapabilities: { close: null } } },
  ])('may be little: %j', (more) => {
    expect(agentFacts({ protocolVersion: 1, ...more })).toEqual({
      name: undefined,
      authMethods: [],
      closesSessions: false,
    });
  });

  it.each([undefined, null, 'yes', {}, { protocolVersion: 2 }, { protocolVersion: 0 }, { protocolVersion: '1' }])(
    'has to be of this version: %j',
    (answer) => {
      expect(() => agentFacts(answer)).toThrow(AcpVersionError);
    },
  );
});

describe('a request that failed', () => {
  it.each([
    [new RequestError(-32603, 'Internal error'), 'error -32603: Internal error'],
    [new RequestError(-32603, 'Internal error', { details: 'disk full' }), 'error -32603: Internal error: disk full'],
    [new RequestError(-32603, 'Internal error', 'disk full'), 'error -32603: Internal error: disk full'],
    [new RequestError(-32603, 'disk full', { details: 'disk full' }), 'error -32603: disk full'],
    [new RequestError(-32603, 'Internal error', { other: 1 }), 'error -32603: Internal error'],
    [new Error('the pipe is closed'), 'the pipe is closed'],
  ])('is told in words: %s', (error, text) => {
    expect(describeFailure(error)).toBe(text);
  });

  it('is one for want of a login only with the code for that', () => {
    expect(isAuthRequired(RequestError.authRequired())).toBe(true);
    expect(isAuthRequired(new RequestError(-32603, 'Authentication required'))).toBe(false);
    expect(isAuthRequired(new Error('Authentication required'))).toBe(false);
  });
});
