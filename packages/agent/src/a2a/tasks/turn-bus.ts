import { DefaultExecutionEventBus, type AgentExecutionEvent } from '@a2a-js/sdk/server';
import { deepCopy } from './deep-copy.js';

/** Where an executor publishes. */
export class TurnBus extends DefaultExecutionEventBus {
  readonly #accept: (event: AgentExecutionEvent) => void;

  constructor(accept: (event: AgentExecutionEvent) => void) {
    super();
    this.#accept = accept;
  }

  override publish(event: AgentExecutionEvent): void {
    this.#accept(deepCopy(event));
    super.publish(event);
  }
}
