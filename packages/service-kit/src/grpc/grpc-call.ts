import type { Metadata } from '@grpc/grpc-js';
import { bearerOf, requestIdFrom } from '../http/call-context.js';
import type { CallContext } from '../operation.js';

interface CancellableCall {
  readonly metadata: Metadata;
  readonly cancelled: boolean;
  getDeadline(): Date | number;
  on(event: 'cancelled', listener: () => void): unknown;
}

export interface GrpcCallContext extends CallContext {
  /** To be called when the call is over: the timer ends, and nothing aborts any more. */
  readonly finish: () => void;
}

export interface GrpcCallOptions {
  /** Aborts after this long; undefined: only the caller's own deadline counts, which the library keeps. */
  readonly deadlineMs?: number;
  /** Aborts with the reason of this one, for what must not outlive the server. */
  readonly closing?: AbortSignal;
}

/** The context of a gRPC call: aborted when the client cancels or when the sooner of both deadlines passes. */
export function grpcCall(call: CancellableCall, options: GrpcCallOptions): GrpcCallContext {
  const controller = new AbortController();
  const { closing, deadlineMs } = options;
  const header = (name: string): string | undefined => {
    const [value] = call.metadata.get(name);
    return typeof value === 'string' ? value : undefined;
  };
  const onDeadline = (): void => {
    controller.abort(new DOMException('The deadline of the call passed.', 'TimeoutError'));
  };
  const onClosing = (): void => {
    controller.abort(closing?.reason);
  };
  const timer = deadlineMs === undefined ? undefined : setTimeout(onDeadline, deadlineMs);
  if (closing?.aborted === true) onClosing();
  closing?.addEventListener('abort', onClosing, { once: true });
  let finished = false;
  const onCancelled = (): void => {
    // The library says this at the end of every call, and when it has kept the caller's deadline itself.
    if (finished) return;
    if (hasPassed(call.getDeadline())) onDeadline();
    else controller.abort(new DOMException('The caller left.', 'AbortError'));
  };
  call.on('cancelled', onCancelled);
  if (call.cancelled) onCancelled();
  return {
    requestId: requestIdFrom(header('x-request-id')),
    signal: controller.signal,
    transport: 'grpc',
    bearer: bearerOf(header('authorization')),
    header,
    finish: () => {
      finished = true;
      clearTimeout(timer);
      closing?.removeEventListener('abort', onClosing);
    },
  };
}

function hasPassed(deadline: Date | number): boolean {
  const at = typeof deadline === 'number' ? deadline : deadline.getTime();
  // Timers may fire a moment early.
  return Number.isFinite(at) && at <= Date.now() + 5;
}
