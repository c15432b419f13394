import { HarnessError } from '../errors.js';
import type { ModelErrorKind } from '../enums.js';

export interface ModelErrorOptions {
  readonly cause?: unknown;
  /** HTTP status, where there was one. */
  readonly status?: number | undefined;
  /** How long the provider asked to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** The same request may succeed a little later. Default false. */
  readonly transient?: boolean | undefined;
}

/** A failed request to a model, told by `kind`. The message is the provider's text, without credentials. */
export class ModelProviderError extends HarnessError {
  override readonly name: string = 'ModelProviderError';
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly transient: boolean;

  constructor(
    readonly kind: ModelErrorKind,
    message: string,
    options: ModelErrorOptions = {},
  ) {
    super(`model_${kind}`, message, options);
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.transient = options.transient ?? false;
  }
}

/** The request does not fit into the model's window: the one kind that compaction can mend. */
export class ContextOverflowError extends ModelProviderError {
  override readonly name = 'ContextOverflowError';

  constructor(message: string, options: ModelErrorOptions = {}) {
    super('context_overflow', message, options);
  }
}

export class ModelRateLimitError extends ModelProviderError {
  override readonly name = 'ModelRateLimitError';

  constructor(message: string, options: ModelErrorOptions = {}) {
    super('rate_limit', message, options);
  }
}

export class ModelTimeoutError extends ModelProviderError {
  override readonly name = 'ModelTimeoutError';

  constructor(message: string, options: ModelErrorOptions = {}) {
    super('timeout', message, options);
  }
}

export class ModelAuthenticationError extends ModelProviderError {
  override readonly name = 'ModelAuthenticationError';

  constructor(message: string, options: ModelErrorOptions = {}) {
    super('authentication', message, options);
  }
}

/** A model was configured with something that cannot be. `setting` names it; its value is not told. */
export class ModelConfigError extends HarnessError {
  override readonly name = 'ModelConfigError';

  constructor(
    /** The environment variable, or the field of the config. */
    readonly setting: string,
    problem: string,
  ) {
    super('model_config_invalid', `${setting} ${problem}`);
  }
}
