import type { ModelSettings } from '../run-settings.js';

/** Which proxy is driven. */
export type DriveTarget =
  | {
      readonly type: 'proxy';
      readonly url: string;
      /** Absolute; undefined: the environment's token, or one that is made and kept. */
      readonly tokenFile: string | undefined;
      /** Absolute: where tokens that are made are kept. */
      readonly stateDir: string;
    }
  /** One that is free and agrees. */
  | {
      readonly type: 'registry';
      /** One, or several doors to one that are separated by commas. */
      readonly url: string;
      /** A name, or name@range. */
      readonly capability: string;
    };

/** `parley drive`, read and checked. */
export interface DriveSettings {
  readonly type: 'drive';
  readonly target: DriveTarget;
  readonly model: ModelSettings;
  /** Undefined: until it is stopped. */
  readonly maxTurns: number | undefined;
  readonly concurrency: number;
  /** Requests to the model per turn. */
  readonly maxSteps: number;
  /** What happens is printed as lines of JSON. */
  readonly isJson: boolean;
}

/** `parley send`, read and checked. */
export interface SendSettings {
  readonly type: 'send';
  readonly proxyUrl: string;
  readonly text: string | undefined;
  /** True if the text goes on on the standard input, to its end. */
  readonly readsInput: boolean;
  readonly contextId: string | undefined;
  /** Prints the id of the task and leaves. */
  readonly detaches: boolean;
  readonly timeoutMs: number | undefined;
  readonly isJson: boolean;
}
