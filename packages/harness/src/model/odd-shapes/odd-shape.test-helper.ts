import type { Answer } from '../odd-server.test-helper.js';
import type { FinishReason } from '../model-adapter.js';
import type { ModelErrorKind } from '../../enums.js';
import type { OpenAiConfig } from '../openai-config.js';

/** What an adapter makes of an answer that is whole. `calls` are written as `name(arguments)`. */
export interface WholeAnswer {
  readonly finish: FinishReason;
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly string[];
  /** Ids of the calls; a made one is `made-1`, `made-2`. */
  readonly ids?: readonly string[];
  /** Input, output, total; default unknown. */
  readonly usage?: readonly (number | null)[];
  readonly warns?: boolean;
}

/** What it makes of one that is not. `shown` is the text that had come by then. */
export interface FailedAnswer {
  readonly fails: ModelErrorKind;
  readonly says: string;
  readonly shown?: string;
}

export interface OddShape {
  readonly name: string;
  readonly answer: (answer: Answer) => void | Promise<void>;
  readonly result: WholeAnswer | FailedAnswer;
  readonly config?: Partial<OpenAiConfig>;
}
