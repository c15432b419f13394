import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import {
  quietLogger,
  SubagentStartError,
  type HarnessLogger,
  type JsonObject,
  type SubagentProvider,
  type SubagentRequest,
  type SubagentResult,
  type SubagentRun,
} from '@parley/harness';
import type { OpenChild } from './acp-child.js';
import { AcpChildren, type AcpLease } from './acp-children.js';
import { acpDeadlines, checkAtLeast, type AcpDeadlines } from './acp-deadlines.js';
import { AcpCancelledError, AcpProviderClosedError } from './acp-errors.js';
import type { AcpSubagentOptions } from './acp-options.js';
import { AcpRun } from './acp-run.js';
import { CancelLatch } from './cancel-latch.js';
import { openChild } from './open-child.js';
import { SubagentSpan } from './subagent-span.js';

const DEFAULT_PERMISSION_MS = 60_000;
const DEFAULT_OUTPUT_BYTES = 1_048_576;

/**
 * Subagents that are programs of somebody else, spoken to over the Agent Client Protocol on their standard streams. They
 * have their own tools and limits, so nothing can be enforced on them but an end.
 *
 * Each run has its own process, or with `pool` one that has no other run at the time, and a session of its own. A
 * provider with a pool has to be closed.
 *
 * @example
 * ```ts
 * registry.register('acp', new AcpSubagentProvider({ command: 'parley', args: ['acp'], cwd: '/work/project' }));
 * ```
 */
export class AcpSubagentProvider implements SubagentProvider {
  readonly capabilities = { outputSchema: false, depthLimit: false, toolFilter: false, persona: false } as const;
  readonly #deadlines: AcpDeadlines;
  readonly #children: AcpChildren;
  readonly #logger: HarnessLogger;
  readonly #newId: () => string;
  /** Runs, from before their start until nothing of them is left. */
  readonly #open = new Map<CancelLatch, Promise<unknown>>();
  #isClosed = false;

  /**
   * @param open starts a child in place of the program of the options, such as the record of one.
   * @throws AcpOptionsError
   */
  constructor(
    private readonly options: AcpSubagentOptions,
    open?: OpenChild,
  ) {
    const deadlines = acpDeadlines(options.deadlines);
    checkOptions(options);
    this.#deadlines = deadlines;
    this.#children = new AcpChildren(options, deadlines, open ?? ((signal) => openChild(options, deadlines, signal)));
    this.#logger = options.logger ?? quietLogger;
    this.#newId = options.newId ?? (() => randomUUID().replaceAll('-', ''));
  }

  async start(request: SubagentRequest): Promise<SubagentRun> {
    if (this.#isClosed) throw new AcpProviderClosedError();
    if (request.prompt.length === 0) {
      throw new SubagentStartError('subagent_prompt_empty', 'there is nothing to ask the subagent');
    }
    const latch = new CancelLatch(request.signal);
    const gone = Promise.withResolvers<unknown>();
    this.#open.set(latch, gone.promise);
    const forget = (): void => {
      latch.unlink();
      this.#open.delete(latch);
      gone.resolve(undefined);
    };
    try {
      const run = await this.#startTraced(request, latch);
      void run.gone.then(forget);
      return run;
    } catch (error) {
      forget();
      throw error;
    }
  }

  /** Cancels what runs, ends what is kept, and resolves when no child is left. Nothing can be started any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const latch of this.#open.keys()) latch.stop(new AcpProviderClosedError());
    await Promise.all(this.#open.values());
    await this.#children.close();
  }

  async #startTraced(request: SubagentRequest, latch: CancelLatch): Promise<AcpRun> {
    const id = this.#newId();
    const span = new SubagentSpan({ tracer: this.options.tracer, name: this.options.name ?? 'acp', id });
    try {
      return await span.run(() => this.#start(id, request, latch, span));
    } catch (error) {
      span.failed(error);
      throw error;
    }
  }

  async #start(id: string, request: SubagentRequest, latch: CancelLatch, span: SubagentSpan): Promise<AcpRun> {
    if (latch.signal.aborted) throw new AcpCancelledError(latch.signal.reason);
    const inCaller = AsyncLocalStorage.snapshot();
    const lease = await this.#children.lease(latch.signal);
    const { connection, sessionId } = lease;
    span.childIs(connection.facts?.name, lease.isWarm);
    const {
      maxOutputBytes = DEFAULT_OUTPUT_BYTES,
      permission = 'reject',
      permissionTimeoutMs: timeoutMs = DEFAULT_PERMISSION_MS,
    } = this.options;
    try {
      const run = new AcpRun({
        id,
        connection,
        sessionId,
        latch,
        deadlines: this.#deadlines,
        maxOutputBytes,
        permissions: { permission, timeoutMs, logger: this.#logger, inCaller },
        release: (result, isOrderly) => this.#release(lease, span, result, isOrderly),
      });
      await run.send(promptBlocks(request), this.#meta(span));
      return run;
    } catch (error) {
      // A part of the prompt may be on its way: there is no time to read the rest of it.
      await connection.end(true);
      throw error;
    }
  }

  async #release(lease: AcpLease, span: SubagentSpan, result: SubagentResult, isOrderly: boolean): Promise<void> {
    const { connection } = lease;
    const foreignUpdates = connection.foreignUpdates - lease.foreignUpdates;
    if (foreignUpdates > 0) {
      this.#logger.warn('a subagent told of sessions that are not its own', {
        sessionId: lease.sessionId,
        foreignUpdates,
      });
    }
    span.ended(result, foreignUpdates);
    await this.#children.giveBack(lease, isOrderly);
    span.released(connection.exit);
  }

  #meta(span: SubagentSpan): JsonObject | undefined {
    const meta = { ...this.options.meta?.(), ...span.carrier() };
    return Object.keys(meta).length === 0 ? undefined : meta;
  }
}

function checkOptions({ permissionTimeoutMs, maxOutputBytes, pool }: AcpSubagentOptions): void {
  if (permissionTimeoutMs !== undefined) checkAtLeast('permissionTimeoutMs', permissionTimeoutMs, 0);
  if (maxOutputBytes !== undefined) checkAtLeast('maxOutputBytes', maxOutputBytes, 1);
  if (pool === undefined) return;
  checkAtLeast('pool.size', pool.size, 1);
  checkAtLeast('pool.idleMs', pool.idleMs, 0);
}

function promptBlocks({ prompt }: SubagentRequest): ContentBlock[] {
  return prompt.map((block) => ({ ...block }));
}
