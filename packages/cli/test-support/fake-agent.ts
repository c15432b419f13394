import type {
  AgentApi,
  AgentEvent,
  AgentEventPayload,
  AgentRunResult,
  AgentStatus,
  CompactionResult,
  ContinueRejectedReason,
  ControlReceipt,
  ControlStatus,
  FollowUpHandle,
  Message,
  RunUsage,
  StopReason,
  ToolCall,
  ToolCallResult,
} from '@parley/harness';

export const usage: RunUsage = {
  inputTokens: 10,
  outputTokens: 5,
  totalTokens: 15,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  reasoningTokens: null,
  requestCount: 1,
  reportedRequestCount: 1,
};

export function runResult(fields: Partial<AgentRunResult> = {}): AgentRunResult {
  return {
    runId: 'a'.repeat(32),
    status: 'completed',
    stopReason: 'text_response',
    output: 'done',
    turns: 1,
    usage,
    error: null,
    ...fields,
  };
}

export function toolCall(name: string, args: object, id = 'c1'): ToolCall {
  return { id, name, arguments: JSON.stringify(args) };
}

export function toolResult(content: string, fields: Partial<ToolCallResult> = {}): ToolCallResult {
  const message = { role: 'tool', toolCallId: 'c1', content } as const;
  return { message, control: 'continue', cancelled: false, error: null, ...fields };
}

export function event(payload: AgentEventPayload): AgentEvent {
  return { agentId: 'parley', runId: 'a'.repeat(32), sequence: 1, payload };
}

/** An agent that does what the test says, when it says so. */
export class FakeAgent implements AgentApi {
  readonly agentId = 'parley';
  status: AgentStatus = 'idle';
  messages: readonly Message[] = [];
  lastResult: AgentRunResult | null = null;
  continueRejectionReason: ContinueRejectedReason | null = null;
  steerStatus: ControlStatus = 'accepted';
  /** What was asked of it, in order. */
  readonly asked: string[] = [];
  isShutDown = false;
  shutdownWork: Promise<unknown> = Promise.resolve();
  readonly #emit: (event: AgentEvent) => void;
  #sequence = 0;
  #running: PromiseWithResolvers<AgentRunResult> | undefined;

  constructor(emit: (event: AgentEvent) => void) {
    this.#emit = emit;
  }

  get canContinue(): boolean {
    return this.continueRejectionReason === null;
  }

  emit(payload: AgentEventPayload): void {
    this.#sequence += 1;
    this.#emit({ ...event(payload), sequence: this.#sequence });
  }

  run(task: string): Promise<AgentRunResult> {
    this.asked.push(`run ${task}`);
    this.#running = Promise.withResolvers();
    this.status = 'running';
    this.emit({ kind: 'agent_started', task });
    this.emit({ kind: 'turn_started', turn: 1 });
    return this.#running.promise;
  }

  continueRun(): Promise<AgentRunResult> {
    this.asked.push('continue');
    this.#running = Promise.withResolvers();
    this.emit({ kind: 'agent_continued' });
    return this.#running.promise;
  }

  /** The running task ends. */
  finish(fields: Partial<AgentRunResult> = {}): void {
    const result = runResult(fields);
    this.status = result.status;
    this.lastResult = result;
    this.emit({ kind: 'agent_finished', result });
    this.#running?.resolve(result);
    this.#running = undefined;
  }

  fail(error: Error): void {
    this.status = 'failed';
    this.#running?.reject(error);
  }

  steer(text: string): ControlReceipt {
    this.asked.push(`steer ${text}`);
    return this.#receipt('steering', this.steerStatus, text);
  }

  followUp(text: string): FollowUpHandle {
    this.asked.push(`followUp ${text}`);
    const accepted = this.status === 'running';
    return {
      accepted,
      receipt: this.#receipt('follow_up', accepted ? 'accepted' : 'agent_idle', text),
      wait: () => new Promise(() => undefined),
    };
  }

  abort(reason?: string): boolean {
    this.asked.push(`abort ${reason ?? ''}`);
    return this.status === 'running';
  }

  /** The run ends as an aborted one does. */
  finishAborted(stopReason: StopReason = 'external_abort'): void {
    this.finish({ status: 'cancelled', stopReason, output: null, error: 'interrupted by the user' });
  }

  compact(options: { readonly signal?: AbortSignal } = {}): Promise<CompactionResult> {
    this.asked.push('compact');
    const { promise, resolve } = Promise.withResolvers<CompactionResult>();
    options.signal?.addEventListener('abort', () => {
      this.asked.push('compaction aborted');
      resolve({ operationId: 'x', trigger: 'explicit', status: 'cancelled', summary: null, error: null });
    });
    return promise;
  }

  waitForIdle(): Promise<void> {
    return Promise.resolve();
  }

  async shutdown(): Promise<void> {
    this.isShutDown = true;
    await this.shutdownWork;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  reset(): void {
    this.messages = [];
  }

  restore(): void {
    this.asked.push('restore');
  }

  async *events(): AsyncGenerator<AgentEvent> {
    // Nobody reads them here.
  }

  #receipt(kind: ControlReceipt['kind'], status: ControlStatus, text: string): ControlReceipt {
    return { kind, status, inputId: status === 'accepted' ? `id of ${text}` : null, queueSize: 1 };
  }
}
