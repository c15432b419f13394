import { StepOutcome, type ToolCallContext, type ToolDefinition, type ToolHandler } from '@parley/harness';
import { MISSING, type Missing } from './pending-question.js';
import { textOf } from './text-of.js';
import type { TurnLedger } from './turn-ledger.js';

const ASK: ToolDefinition = {
  name: 'ask_for_input',
  description: 'Asks whoever gave the task for something without which it cannot be done. Ends your turn.',
  effect: 'side_effecting',
  parameters: {
    type: 'object',
    properties: {
      question: { type: 'string', minLength: 1, maxLength: 2_000 },
      missing: { type: 'string', enum: [...MISSING], description: 'A text to work on, a parameter, or what to do.' },
    },
    required: ['question', 'missing'],
    additionalProperties: false,
  },
};

const DECLINE: ToolDefinition = {
  name: 'decline',
  description: 'Declines a task that neither you nor anybody you can ask is able to do. Ends your turn.',
  effect: 'side_effecting',
  parameters: {
    type: 'object',
    properties: { reason: { type: 'string', minLength: 1, maxLength: 2_000 } },
    required: ['reason'],
    additionalProperties: false,
  },
};

/** How a turn ends other than by an answer. */
export class QuestionTools implements ToolHandler {
  readonly tools: readonly ToolDefinition[] = [ASK, DECLINE];
  readonly #ledger: TurnLedger;

  constructor(ledger: TurnLedger) {
    this.#ledger = ledger;
  }

  call({ tool, arguments: args }: ToolCallContext): Promise<StepOutcome> {
    if (tool.name === DECLINE.name) {
      this.#ledger.refusal = textOf(args['reason']);
      return Promise.resolve(new StepOutcome({ declined: true }, { control: 'reject' }));
    }
    const missing = MISSING.find((one): one is Missing => one === args['missing']) ?? 'request';
    this.#ledger.question = { text: textOf(args['question']), missing };
    return Promise.resolve(new StepOutcome({ asked: true }, { control: 'complete' }));
  }
}
