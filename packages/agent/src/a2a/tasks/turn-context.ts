import type { Message, SendMessageRequest, Task } from '@a2a-js/sdk';
import { RequestContext, type ServerCallContext } from '@a2a-js/sdk/server';
import type { AdmittedWork } from '../agreement/agreement-gate.js';
import { deepCopy } from './deep-copy.js';

/** Its message names its task and its context. */
export type PlacedRequest = SendMessageRequest & { readonly message: Message };

export interface TurnContextInit {
  readonly request: PlacedRequest;
  readonly taskId: string;
  readonly contextId: string;
  readonly call: ServerCallContext;
  /** The task so far, this message included; undefined for the first message. */
  readonly task: Task | undefined;
  readonly referenceTasks: Task[] | undefined;
  readonly admitted: AdmittedWork | undefined;
}

/** The library copies by structuredClone what it is given, which is among the dearest steps of a short call. */
const NOT_COPIED = { message: {} } as SendMessageRequest;

/** What an executor is given by this engine, beyond what the library gives. */
export class TurnContext extends RequestContext {
  /** A copy: an executor may do with it what it likes. */
  override readonly request: PlacedRequest;
  readonly admitted: AdmittedWork | undefined;
  /** Aborted when the task is cancelled, its time is over, or the agent stops. */
  readonly signal: AbortSignal;

  constructor(init: TurnContextInit, signal: AbortSignal) {
    super(NOT_COPIED, init.taskId, init.contextId, init.call, init.task, init.referenceTasks);
    this.request = deepCopy(init.request);
    this.admitted = init.admitted;
    this.signal = signal;
  }
}
