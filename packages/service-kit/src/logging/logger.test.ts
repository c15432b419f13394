import { context, trace, TraceFlags, type Context, type ContextManager } from '@opentelemetry/api';
import { createLogger, quoteList, silentLogger, type LoggerOptions } from './logger.js';

const NOW = Date.UTC(2026, 10, 29, 10, 0, 2, 894);

function record(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const logger = createLogger({ service: 'agent_a', now: () => NOW, destination, ...options });
  return { logger, lines, json: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('a text log', () => {
  it('prints a step of the protocol exactly like this', () => {
    const { logger, lines } = record({ format: 'text' });
    logger.step('handshake', 'Handshake completed with agent_B', { session_id: 'abc-123' });
    expect(lines).toEqual(['[AGENT_A] 10:00:02.894 Handshake completed with agent_B\n']);
  });

  it('names the service in capitals, or the actor of the line', () => {
    const { logger, lines } = record({ format: 'text', service: 'agent-b' });
    logger.info(`Discover for ${quoteList(['code_review', 'translate'])}`);
    logger.child({ actor: 'registry' }).step('register', 'Register agent_A -> OK');
    expect(lines).toEqual([
      "[AGENT_B] 10:00:02.894 Discover for ['code_review', 'translate']\n",
      '[REGISTRY] 10:00:02.894 Register agent_A -> OK\n',
    ]);
  });

  it('marks what is not ordinary, and says why', () => {
    const { logger, lines } = record({ format: 'text', level: 'debug' });
    logger.debug('details');
    logger.warn('Redis cannot be reached', { error: new Error('connect ECONNREFUSED') });
    logger.error('failed', { error: Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }) });
    expect(lines).toEqual([
      '[AGENT_A] 10:00:02.894 debug: details\n',
      '[AGENT_A] 10:00:02.894 warn: Redis cannot be reached (connect ECONNREFUSED)\n',
      '[AGENT_A] 10:00:02.894 error: failed (ECONNREFUSED)\n',
    ]);
  });

  it('cannot be made to fake a line or drive a terminal', () => {
    const { logger, lines } = record({ format: 'text' });
    logger
      .child({ actor: 'x]\n[REGISTRY' })
      .info('a\r\n[REGISTRY] 10:00:02.894 Register evil -> OK\u001b[31m\u0085\u2028');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\[X\]\\n\[REGISTRY\] 10:00:02\.894 a\\r\\n\[REGISTRY\].*\\u001b\[31m\\u0085\\u2028\n$/);
  });
});

describe('a JSON log', () => {
  it('has one line for each call, with the fields of the line and of the child', () => {
    const { logger, json } = record();
    logger.child({ agent_id: 'a' }).child({ session_id: 's' }).step('negotiated', 'Sent', { round: 2, agent_id: 'b' });
    expect(json()).toEqual([
      {
        level: 'info',
        time: '2026-11-29T10:00:02.894Z',
        service: 'agent_a',
        step: 'negotiated',
        agent_id: 'b',
        session_id: 's',
        round: 2,
        msg: 'Sent',
      },
    ]);
  });

  it('leaves out what is below its level', () => {
    const { logger, json } = record({ level: 'warn' });
    logger.debug('d');
    logger.info('i');
    logger.step('s', 's');
    logger.warn('w');
    logger.error('e');
    expect(json().map(({ level }) => level)).toEqual(['warn', 'error']);
    const silent = record({ level: 'silent' });
    silent.logger.error('e');
    expect(silent.lines).toEqual([]);
  });

  it('carries the ids of the span under way', () => {
    const spanContext = {
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: 'b7ad6b7169203331',
      traceFlags: TraceFlags.SAMPLED,
    };
    const active = trace.setSpanContext(context.active(), spanContext);
    context.setGlobalContextManager(always(active));
    try {
      const { logger, json } = record();
      logger.info('inside');
      expect(json()).toMatchObject([{ trace_id: spanContext.traceId, span_id: spanContext.spanId }]);
    } finally {
      context.disable();
    }
    const { logger, json } = record();
    logger.info('outside');
    expect(json()[0]).not.toHaveProperty('trace_id');
  });

  it('is not confused by fields that are called like its own', () => {
    const { logger, json } = record();
    logger.info('the message', { time: 'never', level: 50, msg: 'other' });
    expect(json()).toMatchObject([
      {
        level: 'info',
        time: '2026-11-29T10:00:02.894Z',
        msg: 'the message',
        field_time: 'never',
        field_level: 50,
        field_msg: 'other',
      },
    ]);
  });

  it('describes what was thrown, with its causes', () => {
    const { logger, json } = record();
    const root = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    logger.error('failed', { error: new TypeError('outer', { cause: root }) });
    logger.error('failed', { error: 'text', err: 7 });
    expect(json()).toMatchObject([
      {
        error: {
          name: 'TypeError',
          message: 'outer',
          stack: expect.stringContaining('logger.test'),
          cause: { message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' },
        },
      },
      { error: { name: 'string', message: 'text' }, err: { name: 'number', message: '7' } },
    ]);
  });
});

describe('secrets', () => {
  const NAMES = [
    'authorization', 'Authorization', 'proxy-authorization', 'bearer', 'token', 'access_token', 'owner_token',
    'ownerToken', 'join_token', 'joinToken', 'operator_token', 'operatorToken', 'parley-join-token',
    'Parley-Agreement-Proof', 'proof', 'agreement_proof', 'agreementProof', 'secret', 'clientSecret', 'password',
    'PASSWORD', 'api_key', 'apiKey', 'X-Api-Key', 'cookie', 'Set-Cookie',
  ]; // prettier-ignore

  it.each(NAMES)('called %s never reach a log, at any depth', (name) => {
    const { logger, lines, json } = record();
    const value = 'swordfish';
    logger.info('m', {
      [name]: value,
      headers: { [name]: value },
      a: { headers: { [name]: [value] } },
      list: [{ deep: { er: { [name]: { value } } } }],
    });
    logger.child({ request: { [name]: value } }).info('m');
    expect(lines.join('')).not.toContain(value);
    expect(json()[0]).toMatchObject({
      [name]: '[redacted]',
      headers: { [name]: '[redacted]' },
      a: { headers: { [name]: '[redacted]' } },
    });
  });

  it('in running text are taken out: of messages, fields, errors and their causes', () => {
    const { logger, lines } = record();
    const url = 'redis://user:swordfish@host:6379/0';
    logger.info(`connecting to ${url}`, { url, headers: ['Authorization: Bearer swordfish'], location: new URL(url) });
    logger.error('failed', {
      error: new Error(`no answer of ${url}`, { cause: new Error(`Bearer swordfish at ${url}`) }),
    });
    expect(lines.join('')).not.toContain('swordfish');
    expect(lines.join('')).toContain('redis://[redacted]@host:6379/0');
  });

  it('are not seen where there are none', () => {
    const { logger, json } = record();
    const fields = {
      tokens: 12,
      proof_hash: 'abc',
      token: null,
      secretary: 'x',
      endpoint: 'http://agent_B:8001',
      mail: 'a@b.c',
    };
    logger.info('found agent_B (http://agent_B:8001)', fields);
    expect(json()[0]).toMatchObject({ ...fields, msg: 'found agent_B (http://agent_B:8001)' });
  });
});

describe('odd values', () => {
  it('are written in bounded form', () => {
    const { logger, json } = record();
    const circle: Record<string, unknown> = { name: 'circle' };
    circle['self'] = circle;
    let deep: object = { end: 'swordfish' };
    for (let level = 0; level < 100; level += 1) deep = { deep };
    const fields = JSON.parse('{"__proto__":{"polluted":1}}') as Record<string, unknown>;
    logger.info('m', {
      ...{ circle, deep, big: 12n, when: new Date(0), never: new Date(Number.NaN), bytes: Buffer.from('swordfish') },
      ...{
        map: new Map([['token', 'swordfish']]),
        set: new Set([1]),
        call: () => 1,
        long: 'x'.repeat(100_000),
        fields,
      },
      list: Array.from({ length: 10_000 }, () => 1),
      nested: { error: new Error('inner') },
    });
    const [line = {}] = json();
    expect(line).toMatchObject({
      circle: { name: 'circle', self: '[circular]' },
      ...{
        big: '12',
        when: '1970-01-01T00:00:00.000Z',
        never: null,
        bytes: '[9 bytes]',
        map: { token: '[redacted]' },
        set: [1],
      },
      nested: { error: { name: 'Error', message: 'inner' } },
    });
    expect(JSON.stringify(line)).not.toContain('swordfish');
    expect(JSON.stringify(line).length).toBeLessThan(20_000);
  });
});

describe('a silent logger', () => {
  it('does nothing, and neither do its children', () => {
    for (const logger of [silentLogger, silentLogger.child({ a: 1 })]) {
      for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level]('m');
      logger.step('s', 'm');
    }
  });
});

/** A context manager in whose eyes one context is always active. */
function always(active: Context): ContextManager {
  const manager: ContextManager = {
    active: () => active,
    with: (_context, fn, thisArg, ...args) => fn.call(thisArg as never, ...args),
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}
