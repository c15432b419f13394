import { randomBytes } from 'node:crypto';
import type { Logger } from '@parley/service-kit';
import type { Request, Response } from 'express';
import { Refusal, type Json } from '../domain/facts.js';
import type { ProxyEngine } from '../engine/index.js';
import type { OwnRoute } from '../http/index.js';
import { callerSignal } from '../http/wire/caller-signal.js';
import { readBody } from '../http/wire/read-body.js';
import { MAX_BODY_BYTES } from '../http/wire/read-fields.js';
import { sendJson } from '../http/wire/send-answer.js';
import { idOf, parseRpc, readCall, type RpcCall } from './read-call.js';
import { resubscribe } from './resubscribe.js';
import { missing, RpcError, wrongParameters } from './rpc-error.js';
import { needsParams, RESUBSCRIBE, type RpcContext, rpcMethod } from './rpc-methods.js';

/** A2A 0.3 as JSON-RPC: whatever happens is answered with 200. */
export function a2aRoute(engine: ProxyEngine, logger: Logger): OwnRoute {
  return {
    method: 'POST',
    path: '/a2a',
    handle: async (request, response) => {
      const context: RpcContext = {
        engine,
        signal: callerSignal(response),
        traceparent: traceparentOf(request),
      };
      const bytes = await readBody(request, MAX_BODY_BYTES);
      await answerCall(bytes, context, response, logger);
    },
  };
}

async function answerCall(bytes: Buffer, context: RpcContext, response: Response, logger: Logger): Promise<void> {
  let id: Json | undefined;
  try {
    const value = parseRpc(bytes);
    id = idOf(value);
    const call = readCall(value);
    if (call.method === RESUBSCRIBE) {
      await resubscribe(id, paramsOf(call), context, response);
      return;
    }
    const method = rpcMethod(call.method);
    const result = await method(paramsOf(call), context);
    if (!context.signal.aborted) sendJson(response, { id, jsonrpc: '2.0', result });
  } catch (thrown) {
    sendJson(response, { error: rpcErrorOf(thrown, logger).wire, id, jsonrpc: '2.0' });
  }
}

function paramsOf({ id, method, params }: RpcCall): NonNullable<RpcCall['params']> {
  if (id === undefined) throw wrongParameters(missing('id'));
  if (params === undefined && needsParams(method)) throw wrongParameters(missing('params'));
  return params ?? {};
}

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

function traceparentOf(request: Request): string | undefined {
  const value = request.headers['traceparent'];
  return typeof value === 'string' && TRACEPARENT.test(value) ? value : undefined;
}

/** A bound that was reached is told as it is; what nobody foresaw is not. */
function rpcErrorOf(thrown: unknown, logger: Logger): RpcError {
  if (thrown instanceof RpcError) return thrown;
  if (thrown instanceof Refusal) return new RpcError(thrown.status === 400 ? -32_602 : -32_603, thrown.message);
  const correlationId = randomBytes(16).toString('hex');
  logger.error('A2A request failed', { correlation_id: correlationId, error: thrown });
  return new RpcError(-32_603, `An unexpected framework error occurred. Correlation ID: ${correlationId}`);
}
