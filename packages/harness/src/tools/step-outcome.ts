import type { ToolControl } from '../enums.js';

/**
 * What a tool gives back: data for the model, and what the run is to do then.
 * A string goes to the model as it is, anything else as JSON.
 */
export class StepOutcome {
  readonly control: ToolControl;
  /** Text of a failure that the tool reports as data; shown in events, the run goes on. */
  readonly error: string | undefined;

  constructor(
    readonly data: unknown,
    options: { readonly control?: ToolControl; readonly error?: string } = {},
  ) {
    this.control = options.control ?? 'continue';
    this.error = options.error;
  }
}
