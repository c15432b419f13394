import type { SendMessageRequest, Task } from '@a2a-js/sdk';
import { RequestContext, type ServerCallContext } from '@a2a-js/sdk/server';
import type { AdmittedWork } from '../agreement/agreement-gate.js';

export interface TurnContextInit {
  readonly request: SendMessageRequest;
  readonly taskId: string;
  readonly contextId: string;
  readonly call: ServerCallContext;
  /** The task so far, this message included; undefined for the first message. */
  readonly task: Task | undefined;
  readonly referenceTasks: Task[] | undefined;
  readonly admitted: AdmittedWork | undefined;
}

/** What an executor is given by this engine, beyond what the library gives. */
export class TurnContext extends RequestContext {
  readonly admitted: AdmittedWork | undefined;
  /** Aborted when the task is cancelled, its time is over, or the agent stops. */
  readonly signal: AbortSignal;

  constructor(init: TurnContextInit, signal: AbortSignal) {
    super(init.request, init.taskId, init.contextId, init.call, init.task, init.referenceTasks);
    this.admitted = init.admitted;
    this.signal = signal;
  }
}
