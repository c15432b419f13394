import type { AgentCard, GetTaskRequest, SendMessageRequest, StreamResponse } from '@a2a-js/sdk';
import { JsonRpcTransportError } from '@a2a-js/sdk/errors';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { withSignal, type FieldError } from '@parley/service-kit';
import { scopeOf, type CallScope } from './call-scope.js';
import { protocolFailure, toFailure, type A2aFailure } from './errors/a2a-failure.js';
import { jsonRpcError } from './errors/wire-errors.js';
import { messageFaults } from './message-check.js';

export interface GuardOptions {
  readonly handler: A2ARequestHandler;
  readonly card: AgentCard;
  readonly onFailure: (failure: A2aFailure, scope: CallScope, method: string) => void;
}

/**
 * The request handler as the bindings see it: requests are checked, failures become what may be told, and streams
 * go no faster than they are read and end with their reader.
 */
export function guardHandler(options: GuardOptions): A2ARequestHandler {
  const { handler, card } = options;
  /** Counts as reached only after the check: what the check finds is the request's fault anyway. */
  const unary =
    <P, R>(
      method: string,
      run: (params: P, context: ServerCallContext) => Promise<R>,
      faults: (params: P) => FieldError[] = () => [],
    ) =>
    async (params: P, context: ServerCallContext): Promise<R> => {
      try {
        enter(context, faults(params));
        return await run(params, context);
      } catch (thrown) {
        throw settle(thrown, context, method, options);
      }
    };
  const stream = <P>(
    method: string,
    run: (params: P, context: ServerCallContext) => AsyncGenerator<StreamResponse, void, undefined>,
    faults: (params: P) => FieldError[],
  ) =>
    async function* (params: P, context: ServerCallContext): AsyncGenerator<StreamResponse, void, undefined> {
      try {
        enter(context, faults(params));
        yield* readerBound(run(params, context), scopeOf(context));
      } catch (thrown) {
        const error = settle(thrown, context, method, options);
        const scope = scopeOf(context);
        if (scope?.failure !== undefined && scope.tellInStream?.(scope.failure) === true) return;
        throw error;
      }
    };
  return {
    getAgentCard: () => Promise.resolve(card),
    getAuthenticatedExtendedAgentCard: unary('GetExtendedAgentCard', (params, context) =>
      handler.getAuthenticatedExtendedAgentCard(params, context),
    ),
    sendMessage: unary('SendMessage', (params, context) => handler.sendMessage(params, context), sendFaults),
    sendMessageStream: stream(
      'SendStreamingMessage',
      (params, context) => handler.sendMessageStream(params, context),
      sendFaults,
    ),
    getTask: unary(
      'GetTask',
      (params, context) => handler.getTask(withWholeHistory(params, context), context),
      (params) => [...needed('id', params.id), ...historyFaults(params.historyLength)],
    ),
    cancelTask: unary(
      'CancelTask',
      (params, context) => handler.cancelTask(params, context),
      ({ id }) => needed('id', id),
    ),
    resubscribe: stream(
      'SubscribeToTask',
      (params, context) => handler.resubscribe(params, context),
      ({ id }) => needed('id', id),
    ),
    listTasks: unary(
      'ListTasks',
      (params, context) => handler.listTasks(params, context),
      (params) => [...historyFaults(params.historyLength), ...pageFaults(params.pageSize)],
    ),
    createTaskPushNotificationConfig: unary(
      'CreateTaskPushNotificationConfig',
      (params, context) => handler.createTaskPushNotificationConfig(params, context),
      ({ taskId, url }) => [...needed('taskId', taskId), ...needed('url', url)],
    ),
    getTaskPushNotificationConfig: unary(
      'GetTaskPushNotificationConfig',
      (params, context) => handler.getTaskPushNotificationConfig(params, context),
      ({ taskId }) => needed('taskId', taskId),
    ),
    listTaskPushNotificationConfigs: unary(
      'ListTaskPushNotificationConfigs',
      (params, context) => handler.listTaskPushNotificationConfigs(params, context),
      ({ taskId }) => needed('taskId', taskId),
    ),
    deleteTaskPushNotificationConfig: unary(
      'DeleteTaskPushNotificationConfig',
      (params, context) => handler.deleteTaskPushNotificationConfig(params, context),
      ({ taskId, id }) => [...needed('taskId', taskId), ...needed('id', id)],
    ),
  };
}

function enter(context: ServerCallContext, faults: readonly FieldError[]): void {
  const scope = scopeOf(context);
  if (scope !== undefined) scope.reached = true;
  if (faults.length > 0) throw new RefusedRequest(faults);
}

/** Carries the faults to the one place where a failure is made. */
class RefusedRequest extends Error {
  readonly faults: readonly FieldError[];
  constructor(faults: readonly FieldError[]) {
    super('refused');
    this.faults = faults;
  }
}

/** Remembers the failure for the binding, and gives what the protocol's library may see of it. */
function settle(thrown: unknown, context: ServerCallContext, method: string, options: GuardOptions): Error {
  const scope = scopeOf(context);
  const failure =
    thrown instanceof RefusedRequest ? faultyParams(thrown.faults) : toFailure(thrown, scope?.signal.aborted === true);
  if (scope !== undefined) {
    scope.failure = failure;
    options.onFailure(failure, scope, method);
  }
  return new JsonRpcTransportError({ jsonrpc: '2.0', id: null, error: jsonRpcError(failure) } as never);
}

/** -32602 with the paths, the first of them in the sentence. */
export function faultyParams(faults: readonly FieldError[]): A2aFailure {
  const [first] = faults;
  const sentence = first === undefined ? 'The request is not valid.' : `${first.path}: ${first.message}`;
  return protocolFailure('INVALID_PARAMS', sentence, faults);
}

/**
 * Pulls the next item only when the reader has taken those before. When the reader leaves, the source is told to
 * return and nothing more is said; when the server closes, it is said so.
 */
async function* readerBound(
  source: AsyncGenerator<StreamResponse, void, undefined>,
  scope: CallScope | undefined,
): AsyncGenerator<StreamResponse, void, undefined> {
  if (scope === undefined) {
    yield* source;
    return;
  }
  let ended = false;
  try {
    for (;;) {
      await scope.room();
      const next = await withSignal(source.next(), scope.signal);
      if (next.done === true) {
        ended = true;
        return;
      }
      yield next.value;
    }
  } catch (thrown) {
    if (!scope.hasLeft) throw thrown;
  } finally {
    // Not waited for: a generator answers only after the item it is waiting for.
    if (!ended) source.return().catch(() => undefined);
  }
}

/** gRPC of 0.3 cannot tell 0 from nothing said, and asks for all by saying nothing. */
function withWholeHistory(params: GetTaskRequest, context: ServerCallContext): GetTaskRequest {
  const scope = scopeOf(context);
  const unsaid = scope?.binding === 'grpc' && scope.legacy && params.historyLength === 0;
  return unsaid ? { ...params, historyLength: undefined } : params;
}

function sendFaults(params: SendMessageRequest): FieldError[] {
  return [...messageFaults(params.message), ...historyFaults(params.configuration?.historyLength)];
}

function needed(path: string, value: string): FieldError[] {
  return value === '' ? [{ path, message: 'is required' }] : [];
}

function historyFaults(length: number | undefined): FieldError[] {
  const isCount = length === undefined || (Number.isInteger(length) && length >= 0);
  return isCount ? [] : [{ path: 'historyLength', message: 'must be a count' }];
}

function pageFaults(size: number | undefined): FieldError[] {
  const isSize = size === undefined || (Number.isInteger(size) && size >= 1 && size <= 100);
  return isSize ? [] : [{ path: 'pageSize', message: 'must be between 1 and 100' }];
}
