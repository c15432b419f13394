import type { AgentApi } from '../agent/agent-api.js';
import { messageOf } from '../errors.js';
import type { HarnessLogger } from '../logger.js';
import { childResult, failedChild } from './child-result.js';
import type { SubagentResult, SubagentRun } from './subagent-types.js';
import type { SubmitResultHandler } from './submit-result-handler.js';
import type { UpdateChannel } from './update-channel.js';

export interface InProcessRunParts {
  readonly id: string;
  readonly agent: AgentApi;
  readonly task: string;
  readonly signal: AbortSignal;
  readonly submit: SubmitResultHandler | undefined;
  readonly updates: UpdateChannel;
  readonly logger: HarnessLogger;
}

/** A second agent at work. It is shut down as soon as its run has ended, whether anybody disposes of it or not. */
export class InProcessRun implements SubagentRun {
  readonly id: string;
  readonly updates: UpdateChannel;
  readonly result: Promise<SubagentResult>;
  readonly #stop = new AbortController();
  readonly #gone: Promise<void>;

  constructor(private readonly parts: InProcessRunParts) {
    this.id = parts.id;
    this.updates = parts.updates;
    this.result = this.#run();
    this.#gone = this.result.then(() => this.#shutDown());
  }

  cancel(reason = 'the subagent was cancelled'): void {
    this.#stop.abort(new Error(reason));
  }

  async dispose(): Promise<void> {
    this.cancel();
    await this.#gone;
  }

  async #run(): Promise<SubagentResult> {
    const { agent, task, signal, submit } = this.parts;
    const onAbort = (): void => this.#stop.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      return childResult(await agent.run(task, { signal: this.#stop.signal }), submit);
    } catch (error) {
      return failedChild(error, this.#stop.signal.aborted);
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.updates.end();
    }
  }

  async #shutDown(): Promise<void> {
    try {
      await this.parts.agent.shutdown();
    } catch (error) {
      this.parts.logger.warn('a subagent did not shut down well', { subagent: this.id, error: messageOf(error) });
    }
  }
}
