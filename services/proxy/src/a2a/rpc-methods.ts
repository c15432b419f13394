import type { JsonObject } from '../domain/facts.js';
import { isJsonObject } from '@parley/proxy-protocol';
import type { ProxyEngine, TaskView } from '../engine/index.js';
import { readHistoryLength, readMessage, type SentMessage } from './read-message.js';
import {
  invalid,
  methodNotFound,
  missing,
  notCancelable,
  notSupported,
  refusedParameters,
  RpcError,
  taskNotFound,
  wrongParameters,
} from './rpc-error.js';
import { isEnded, wireTask } from './wire-task.js';

export interface RpcContext {
  readonly engine: ProxyEngine;
  /** Aborts when the caller goes. */
  readonly signal: AbortSignal;
  /** W3C `traceparent` of the request. */
  readonly traceparent: string | undefined;
}

type RpcMethod = (params: JsonObject, context: RpcContext) => Promise<JsonObject> | JsonObject;

const noPush: RpcMethod = () => {
  throw notSupported('Push notifications are not supported by the agent');
};

const METHODS: Readonly<Record<string, RpcMethod>> = {
  'message/send': send,
  'message/stream': (params) => {
    readMessage(params);
    throw notSupported('Streaming is not supported by the agent');
  },
  'tasks/get': (params, { engine }) => {
    const taskId = readTaskId(params);
    const length = readHistoryLength(params, 'params');
    const task = engine.task(taskId);
    if (task === undefined) throw taskNotFound();
    return wireTask(task, length);
  },
  'tasks/cancel': cancel,
  'tasks/pushNotificationConfig/set': noPush,
  'tasks/pushNotificationConfig/get': noPush,
  'tasks/pushNotificationConfig/list': noPush,
  'tasks/pushNotificationConfig/delete': noPush,
  'agent/getAuthenticatedExtendedCard': () => {
    throw notSupported('Authenticated card not supported');
  },
};

export const RESUBSCRIBE = 'tasks/resubscribe';

export function rpcMethod(name: string): RpcMethod {
  const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
  if (method === undefined) throw methodNotFound();
  return method;
}

export function needsParams(name: string): boolean {
  return name !== 'agent/getAuthenticatedExtendedCard';
}

export function readTaskId(params: JsonObject): string {
  const { id } = params;
  if (id === undefined) throw wrongParameters(missing('params', 'id'));
  if (typeof id !== 'string') throw wrongParameters(invalid('Input should be a valid string', 'params', 'id'));
  return id;
}

async function send(params: JsonObject, { engine, signal, traceparent }: RpcContext): Promise<JsonObject> {
  const sent = readMessage(params);
  const { blocking, historyLength } = readConfiguration(params);
  checkTask(sent, engine);
  checkParts(sent);
  const task = await engine.submit({
    messageId: sent.messageId,
    message: sent.message,
    texts: textsOf(sent),
    ...(sent.contextId !== undefined && { contextId: sent.contextId }),
    ...(traceparent !== undefined && { traceparent }),
  });
  const shown = blocking && !isEnded(task) ? await engine.ended(task.taskId, signal) : task;
  return wireTask(shown, historyLength);
}

/** Blocking unless it says otherwise. */
function readConfiguration(params: JsonObject): { blocking: boolean; historyLength: number | undefined } {
  const at = ['params', 'configuration'];
  const given = params['configuration'];
  if (given === undefined || given === null) return { blocking: true, historyLength: undefined };
  if (!isJsonObject(given)) throw wrongParameters(invalid('Input should be a valid dictionary', ...at));
  const blocking = given['blocking'] ?? true;
  if (typeof blocking !== 'boolean') {
    throw wrongParameters(invalid('Input should be a valid boolean', ...at, 'blocking'));
  }
  return { blocking, historyLength: readHistoryLength(given, ...at) };
}

/** A task takes one message, the one it was made for. */
function checkTask({ taskId, contextId }: SentMessage, engine: ProxyEngine): void {
  if (taskId === undefined) return;
  const task = engine.task(taskId);
  if (task === undefined) throw taskNotFound(`Task ${taskId} was specified but does not exist`);
  if (isEnded(task)) throw inTerminalState(task);
  if (contextId !== undefined && contextId !== task.contextId) throw refusedParameters('bad context id');
  throw new RpcError(-32_004, `This operation is not supported: task ${taskId} takes no message while it is under way`);
}

function checkParts({ parts }: SentMessage): void {
  if (parts.length === 0) throw refusedParameters('Message parts cannot be empty');
  const isEmpty = parts.some((part) => part['kind'] === 'text' && part['text'] === '');
  if (isEmpty) throw refusedParameters('TextPart content cannot be empty');
}

/** Undefined if a part is not text. */
function textsOf({ parts }: SentMessage): readonly string[] | undefined {
  const texts = parts.map((part) => part['text']);
  return texts.every((text) => typeof text === 'string') ? texts : undefined;
}

async function cancel(params: JsonObject, { engine }: RpcContext): Promise<JsonObject> {
  const taskId = readTaskId(params);
  const { outcome, view } = await engine.cancel(taskId);
  const task = view ?? engine.task(taskId);
  if (outcome === 'unknown' || task === undefined) throw taskNotFound();
  if (outcome === 'ended') throw notCancelable(task.state);
  return wireTask(task);
}

export function inTerminalState(task: TaskView): RpcError {
  return refusedParameters(`Task ${task.taskId} is in terminal state: ${task.state}`);
}
