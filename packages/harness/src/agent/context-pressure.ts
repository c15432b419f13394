import { checkCompactionPolicy, decideCompaction } from '../context/compaction-decision.js';
import type { CompactionDecision, CompactionPreparation } from '../context/compaction-types.js';
import { ContextMeter } from '../context/context-meter.js';
import { prepareCompaction } from '../context/prepare-compaction.js';
import type { CompactionTrigger } from '../enums.js';
import type { Message } from '../messages.js';
import type { RunPressure } from '../run/collaborators.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import type { ContextOptions } from './agent-options.js';

/** Watches the window of an agent's model by its context options. */
export class ContextPressure implements RunPressure {
  readonly compactsOnPressure: boolean;
  readonly compactsOnOverflow: boolean;
  readonly #policy: ContextOptions['policy'];
  readonly #meter = new ContextMeter();

  /** @throws RangeError for a policy that makes no sense. */
  constructor(options: ContextOptions) {
    checkCompactionPolicy(options.policy);
    this.#policy = options.policy;
    this.compactsOnPressure = options.auto !== undefined && (options.auto.onPressure ?? true);
    this.compactsOnOverflow = options.auto !== undefined && (options.auto.onOverflow ?? true);
  }

  evaluate(messages: readonly Message[], tools: readonly ToolDefinition[]): CompactionDecision {
    return decideCompaction(this.#policy, this.#meter.measure(messages, tools));
  }

  prepare(history: readonly Message[], trigger: CompactionTrigger): CompactionPreparation {
    return prepareCompaction(history, this.#policy, { trigger, meter: this.#meter });
  }
}
