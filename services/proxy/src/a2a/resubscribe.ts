import type { ServerResponse } from 'node:http';
import type { Json } from '../domain/facts.js';
import type { JsonObject } from '../domain/facts.js';
import { readTaskId, type RpcContext, inTerminalState } from './rpc-methods.js';
import { RpcError, taskNotFound } from './rpc-error.js';
import { isEnded, wireFinalUpdate } from './wire-task.js';

const KEEP_ALIVE_MS = 15_000;

/** Streams a task's end, once it has come; errors are told as events too. */
export async function resubscribe(
  id: Json | undefined,
  params: JsonObject,
  context: RpcContext,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  });
  response.flushHeaders();
  // Lets go of connections whose other side is gone without a word.
  const keepAlive = setInterval(() => {
    response.write(': keep-alive\n\n');
  }, KEEP_ALIVE_MS);
  try {
    const event = await lastEvent(id, params, context);
    response.end(event === undefined ? '' : `data: ${JSON.stringify(event)}\r\n\r\n`);
  } finally {
    clearInterval(keepAlive);
    if (!response.writableEnded) response.destroy();
  }
}

async function lastEvent(id: Json | undefined, params: JsonObject, context: RpcContext): Promise<object | undefined> {
  try {
    const { engine, signal } = context;
    const known = engine.task(readTaskId(params));
    if (known === undefined) throw taskNotFound();
    if (isEnded(known)) throw inTerminalState(known);
    const task = await engine.ended(known.taskId, signal);
    // Still open: the proxy stops, and the stream with it.
    return isEnded(task) ? { id, jsonrpc: '2.0', result: wireFinalUpdate(task) } : undefined;
  } catch (error) {
    if (error instanceof RpcError) return { error: error.wire, id, jsonrpc: '2.0' };
    throw error;
  }
}
